package fpr

import "slices"

// A policy is a kind of filter.
type policy struct {
	name, title string

	// plan returns the fewest bits per key that promise the rate.
	plan func(keys int, rate float64) (bitsPerKey int, err error)

	// empty returns a filter without keys, of the size that it has for this many keys.
	empty func(keys, bitsPerKey int) (measuredFilter, error)
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
	{"bloom", "LevelDB’s Bloom filter", planBloom, emptyBloom},
	{"table-bloom", "RocksDB’s Bloom filter of a table", planTableBloom, emptyTableBloom},
	{"fuse", "Binary fuse filter of a table", planFuse, emptyFuse},
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
