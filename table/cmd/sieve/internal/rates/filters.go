package rates

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A policy is a kind of filter.
type policy struct {
	name  string
	short string // its name in charts

	// rate returns the predicted rate, or 1 if there are no such filters. It is lowest with maxBits.
	rate func(keys, bitsPerKey int) float64

	// empty returns a filter without keys, sized for this many keys. A k of 0 means the policy's. Fuse filters
	// have no other.
	empty func(keys, bitsPerKey, k int) (measuredFilter, error)
}

// A measuredFilter is a filter that fills up.
type measuredFilter interface {
	Add(key []byte)
	Contains(key []byte) bool

	// build makes the filter contain all added keys, for filters whose Add does not.
	build(keys [][]byte) error

	// size returns the number of bits in the filter, and the number that a lookup probes.
	size() (m, k int)

	// formula returns the rate by the formula for this many keys.
	formula(keys float64) float64
}

var policies = []policy{
	{"bloom", "LevelDB’s", bloomRate, emptyBloom},
	{"table-bloom", "RocksDB’s", tableBloomRate, emptyTableBloom},
	{fuseName, "fuse", fuseRate, emptyFuse},
	{"independent", "independent", independentRate, emptyIndependent},
}

// fuseName is the name of the policy whose bits are fingerprint bits, not bits per key.
const fuseName = "fuse"

// fewestBits returns the fewest bits per key with a predicted rate ≤ rate.
func (p policy) fewestBits(keys int, rate float64) (bits int, err error) {
	if lowest := p.rate(keys, maxBits); lowest > rate {
		const roundUp = 1.005 // so that the rate in the error can be reached
		return 0, cli.UsageErrorf("-p is %g, but %s filters of %d keys reach only %.3g: use a higher rate, or another --policy",
			rate, p.name, keys, lowest*roundUp)
	}
	for bits = 1; p.rate(keys, bits) > rate; {
		bits++
	}
	return bits, nil
}

// size describes the size of the filters.
func (p policy) size(bits int) string {
	what := text.Count(uint64(bits), "bit")
	if p.name == fuseName {
		return "fingerprints of " + what
	}
	return what + " per key"
}

// Policies returns the names of the policies.
func Policies() []string {
	var names []string
	for _, p := range policies {
		names = append(names, p.name)
	}
	return names
}

func policyOf(name string) policy {
	return policies[slices.IndexFunc(policies, func(p policy) bool { return p.name == name })]
}

// A dimension is the size of a filter: m bits, of which a lookup probes k.
type dimension struct{ m, k int }

func dimensionOf(keys, bitsPerKey, k int) dimension {
	return dimension{int(bloom.Bits(uint64(keys), uint64(bitsPerKey))), cmp.Or(k, bloom.K(uint64(bitsPerKey)))}
}

func (d dimension) size() (m, k int) { return d.m, d.k }

func (dimension) build([][]byte) error { return nil }

// A blockBloom is a filter.Bloom filter.
type blockBloom struct {
	dimension
	*filter.DynamicBloom
}

func bloomRate(keys, bitsPerKey int) float64 {
	return filter.NewBloom(bitsPerKey).Rate(uint64(keys))
}

func emptyBloom(keys, bitsPerKey, k int) (measuredFilter, error) {
	d := dimensionOf(keys, bitsPerKey, k)
	f, err := filter.OpenDynamicBloom(append(make([]byte, d.m/8), byte(d.k)))
	return blockBloom{d, f}, err
}

// formula returns the classical rate, increased by the chance that the key's 32-bit hash equals the hash of an
// added key.
func (b blockBloom) formula(keys float64) float64 {
	p := bloom.Rate(float64(b.m)/keys, b.k)
	return p + (1-p)*-math.Expm1(-keys/(1<<32))
}

// An independent filter is a textbook Bloom filter: each bit of a key comes from a separate hash function. It has
// the size and the k of LevelDB's filter, whose bits all come from one 32-bit hash. Tables do not use such
// filters, because computing k hashes takes too long.
type independent struct {
	dimension
	bits []byte
}

func independentRate(keys, bitsPerKey int) float64 {
	return independent{dimension: dimensionOf(keys, bitsPerKey, 0)}.formula(float64(keys))
}

func emptyIndependent(keys, bitsPerKey, k int) (measuredFilter, error) {
	d := dimensionOf(keys, bitsPerKey, k)
	return independent{d, make([]byte, d.m/8)}, nil
}

// at returns the bit that the hash function with this seed picks for a key. XXH3 combines the seed with a key of
// up to 3 bytes by xor only: with seeds 0 to k - 1, keys that differ in their last bits would share most bits of
// the filter.
func (f independent) at(key []byte, seed int) uint64 {
	const spread = 0x9e3779b97f4a7c15 // multiples differ in all bytes
	at, _ := bits.Mul64(xxh3.HashSeed(key, uint64(seed)*spread), uint64(f.m))
	return at
}

func (f independent) Add(key []byte) {
	for seed := range f.k {
		at := f.at(key, seed)
		f.bits[at/8] |= 1 << (at % 8)
	}
}

func (f independent) Contains(key []byte) bool {
	for seed := range f.k {
		if at := f.at(key, seed); f.bits[at/8]>>(at%8)&1 == 0 {
			return false
		}
	}
	return true
}

func (f independent) formula(keys float64) float64 { return bloom.Rate(float64(f.m)/keys, f.k) }

// tableBloom is a filter.TableBloom filter with its bytes, which share memory.
type tableBloom struct {
	dimension
	filter.TableFilter
	bytes []byte
}

const (
	lineSize          = 64 // bytes of a line
	tableBloomTrailer = 5  // bytes after the lines; the first one is k
)

func tableBloomRate(keys, bitsPerKey int) float64 {
	return filter.NewTableBloom(bitsPerKey).Rate(uint64(keys))
}

// emptyTableBloom builds a filter of one key, sized for all keys, and clears its lines.
func emptyTableBloom(keys, bitsPerKey, k int) (measuredFilter, error) {
	g := filter.NewTableBloom(bitsPerKey).SizedFor(uint64(keys)).NewTableGenerator()
	g.Add(nil)
	b, err := g.Generate()
	if err != nil {
		return nil, err
	}
	lines := len(b) - tableBloomTrailer
	clear(b[:lines])
	if k > 0 {
		b[lines] = byte(k)
	}
	f, err := filter.TableBloom{}.Open(b)
	return tableBloom{dimension{8 * lines, int(b[lines])}, f, b}, err
}

func (t tableBloom) Add(key []byte) {
	p, _ := filter.ProbeTable(t.TableFilter, key)
	line := t.bytes[lineSize*p.Line:]
	for _, bit := range p.Bits {
		line[bit/8] |= 1 << (bit % 8)
	}
}

func (t tableBloom) formula(keys float64) float64 {
	return filter.PredictTableRate(uint64(keys), uint64(t.m/(8*lineSize)), t.k)
}

// A fuseFilter is a binary fuse filter. Since no keys can be added to it, it is rebuilt for each number of keys.
// Its size is reported for the keys that it is sized for, and its k is the number of fingerprints that a lookup
// reads.
type fuseFilter struct {
	dimension
	filter.TableFilter
	policy fuse.Policy
}

func fuseRate(_, bits int) float64 {
	p, err := fuse.New(min(bits, 16))
	if err != nil {
		return 1
	}
	return p.Rate()
}

func emptyFuse(keys, fingerprintBits, _ int) (measuredFilter, error) {
	p, err := fuse.New(fingerprintBits)
	if err != nil {
		return nil, cli.UsageErrorf("--bits for --policy fuse: %w", err)
	}
	return &fuseFilter{dimension: dimension{8 * p.Size(keys), 3}, policy: p}, nil
}

func (*fuseFilter) Add([]byte) {}

func (f *fuseFilter) build(keys [][]byte) error {
	g := f.policy.NewTableGenerator()
	for _, key := range keys {
		g.Add(key)
	}
	contents, err := g.Generate()
	if err != nil {
		return err
	}
	f.TableFilter, err = f.policy.Open(contents)
	return err
}

func (f *fuseFilter) formula(float64) float64 { return f.policy.Rate() }
