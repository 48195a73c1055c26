package rates

import (
	"cmp"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

func planBloom(keys int, rate float64) (int, error) {
	s, err := filter.SizeForSingleRate(uint64(keys), rate)
	if err != nil {
		return 0, cli.UsageErrorf("-p is %g, and one bloom filter of %d keys has more false positives, however many bits it has: use a higher rate, or --policy fuse", rate, keys)
	}
	return s.BitsPerKey, nil
}

// A dimension is the size of a Bloom filter: m bits, of which a lookup probes k.
type dimension struct{ m, k int }

func dimensionOf(keys, bitsPerKey, k int) dimension {
	return dimension{int(bloom.Bits(uint64(keys), uint64(bitsPerKey))), cmp.Or(k, bloom.K(uint64(bitsPerKey)))}
}

func (d dimension) size() (m, k int) { return d.m, d.k }

// A blockBloom is a filter of filter.Bloom.
type blockBloom struct {
	dimension
	*filter.DynamicBloom
}

func emptyBloom(keys, bitsPerKey, k int) (measuredFilter, error) {
	d := dimensionOf(keys, bitsPerKey, k)
	f, err := filter.OpenDynamicBloom(append(make([]byte, d.m/8), byte(d.k)))
	return blockBloom{d, f}, err
}

func (b blockBloom) add(keys [][]byte) error {
	for _, key := range keys {
		b.Add(key)
	}
	return nil
}

func (b blockBloom) contains(key []byte) bool { return b.Contains(key) }

func (b blockBloom) formula(keys float64) float64 { return formulaRate(keys, int64(b.m), b.k) }

// An independent filter is a Bloom filter as textbooks have it: each bit of a key comes from a hash
// function of its own. It has the size and the k of LevelDB's, whose bits all come from one hash of 32
// bits. No table has such filters, because k hashes take too long.
type independent struct {
	dimension
	bits []byte
}

func emptyIndependent(keys, bitsPerKey, k int) (measuredFilter, error) {
	d := dimensionOf(keys, bitsPerKey, k)
	return independent{d, make([]byte, d.m/8)}, nil
}

// at returns the bit of a key that the hash function with this seed picks.
func (f independent) at(key []byte, seed int) uint64 {
	at, _ := bits.Mul64(xxh3.HashSeed(key, uint64(seed)), uint64(f.m))
	return at
}

func (f independent) add(keys [][]byte) error {
	for _, key := range keys {
		for seed := range f.k {
			at := f.at(key, seed)
			f.bits[at/8] |= 1 << (at % 8)
		}
	}
	return nil
}

func (f independent) contains(key []byte) bool {
	for seed := range f.k {
		if at := f.at(key, seed); f.bits[at/8]>>(at%8)&1 == 0 {
			return false
		}
	}
	return true
}

func (f independent) formula(keys float64) float64 { return bloom.Rate(float64(f.m)/keys, f.k) }

// tableBloom is a filter.TableBloom: its bytes and its filter, which share memory.
type tableBloom struct {
	bytes  []byte
	filter filter.TableFilter
}

const (
	lineSize          = 64 // bytes of a line
	tableBloomTrailer = 5  // bytes behind the lines, of which the first one is k
)

// emptyTableBloom clears the lines of a filter of one key that has the size for all keys.
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
	return tableBloom{b, f}, err
}

func (t tableBloom) add(keys [][]byte) error {
	for _, key := range keys {
		p, _ := filter.ProbeTable(t.filter, key)
		line := t.bytes[lineSize*p.Line:]
		for _, bit := range p.Bits {
			line[bit/8] |= 1 << (bit % 8)
		}
	}
	return nil
}

func (t tableBloom) contains(key []byte) bool { return t.filter.Contains(key) }

func (t tableBloom) size() (m, k int) {
	lines := len(t.bytes) - tableBloomTrailer
	return 8 * lines, int(t.bytes[lines])
}

func (t tableBloom) formula(keys float64) float64 {
	m, k := t.size()
	return filter.PredictTableRate(uint64(keys), uint64(m/(8*lineSize)), k)
}

// A fuseFilter is a binary fuse filter. It cannot take more keys, and is rebuilt with them.
type fuseFilter struct {
	policy   fuse.Policy
	sizedFor int        // number of keys
	added    [][][]byte // the keys of each add
	filter   filter.TableFilter
}

func planFuse(_ int, rate float64) (int, error) {
	p, err := fuse.ForRate(rate)
	if err != nil {
		return 0, cli.UsageErrorf("-p is %g, and fuse filters have at least 2^-16, or 0.0015 %%: use a higher rate, or --policy bloom", rate)
	}
	return p.Bits(), nil
}

func emptyFuse(keys, fingerprintBits, _ int) (measuredFilter, error) {
	p, err := fuse.New(fingerprintBits)
	if err != nil {
		return nil, cli.UsageErrorf("--bits for --policy fuse: %w", err)
	}
	return &fuseFilter{policy: p, sizedFor: keys}, nil
}

func (f *fuseFilter) add(keys [][]byte) error {
	f.added = append(f.added, keys)
	g := f.policy.NewTableGenerator()
	for _, keys := range f.added {
		for _, key := range keys {
			g.Add(key)
		}
	}
	contents, err := g.Generate()
	if err != nil {
		return err
	}
	f.filter, err = f.policy.Open(contents)
	return err
}

func (f *fuseFilter) contains(key []byte) bool { return f.filter.Contains(key) }

// size returns the length with the keys that the filter is sized for, and the number of
// fingerprints that a lookup reads.
func (f *fuseFilter) size() (m, k int) { return 8 * f.policy.Size(f.sizedFor), 3 }

func (f *fuseFilter) formula(float64) float64 { return f.policy.Rate() }
