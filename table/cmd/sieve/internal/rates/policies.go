package rates

import (
	"slices"
	"sort"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A policy is a kind of filter.
type policy struct {
	name  string
	short string // what a chart calls it

	// plan returns the fewest bits per key that promise the rate.
	plan func(keys int, rate float64) (bitsPerKey int, err error)

	// empty returns a filter without keys, of the size that it has for this many keys. k is 0 for
	// that of the policy. Fuse filters have no other.
	empty func(keys, bitsPerKey, k int) (measuredFilter, error)
}

// A measuredFilter is a filter that fills up.
type measuredFilter interface {
	// add adds keys to those added before. It may keep the slice.
	add(keys [][]byte) error

	contains(key []byte) bool

	// size returns the number of bits of the filter, and of those that a lookup probes.
	size() (m, k int)

	// formula returns the rate of the formula for this many keys.
	formula(keys float64) float64
}

var policies = []policy{
	{"bloom", "LevelDB’s", planBloom, emptyBloom},
	{"table-bloom", "RocksDB’s", fewestBits("one table-bloom filter", ", or --policy bloom", tableBloomRate), emptyTableBloom},
	{fuseName, "fuse", planFuse, emptyFuse},
	{"independent", "independent", fewestBits("an independent filter", "", independentRate), emptyIndependent},
}

// fewestBits plans filters of a known rate. The error for a rate that none reaches ends with a hint.
func fewestBits(name, hint string, rateOf func(keys, bits int) float64) func(int, float64) (int, error) {
	return func(keys int, rate float64) (int, error) {
		bits := 1 + sort.Search(maxBits, func(i int) bool { return rateOf(keys, i+1) <= rate })
		if bits > maxBits {
			return 0, cli.UsageErrorf("-p is %g, and %s of %d keys has more false positives even with %d bits per key: use a higher rate%s",
				rate, name, keys, maxBits, hint)
		}
		return bits, nil
	}
}

func tableBloomRate(keys, bits int) float64 { return filter.NewTableBloom(bits).Rate(uint64(keys)) }

func independentRate(keys, bits int) float64 {
	d := dimensionOf(keys, bits, 0)
	return bloom.Rate(float64(d.m)/float64(keys), d.k)
}

// fuseName is the name of the policy whose bits are not those per key.
const fuseName = "fuse"

// size says of what size filters are.
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
