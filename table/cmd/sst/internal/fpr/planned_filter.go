package fpr

import "github.com/sievetable/sievetable/filter"

// A plannedFilter builds filters with the bits for this many keys, whatever number of keys
// they get.
type plannedFilter struct {
	keys      int
	generator filter.Generator
}

func newPlannedFilter(keys, bitsPerKey int) plannedFilter {
	return plannedFilter{keys, filter.NewBloom(bitsPerKey).NewGenerator()}
}

// build returns a filter with the keys, at most twice as many as planned. The keys beyond
// the plan get a filter of their own. The union of both is what one filter of all keys
// would be.
func (p plannedFilter) build(keys [][]byte) ([]byte, error) {
	if len(keys) <= p.keys {
		return p.buildPart(keys), nil
	}
	return filter.Union(p.buildPart(keys[:p.keys]), p.buildPart(keys[p.keys:]))
}

// buildPart returns a filter of at most as many keys as planned. A generator sizes its
// filter by the number of added keys. Adding the last key again makes up the number, and
// sets no further bits.
func (p plannedFilter) buildPart(keys [][]byte) []byte {
	for i := range p.keys {
		p.generator.Add(keys[min(i, len(keys)-1)])
	}
	var b filter.Bytes
	p.generator.Generate(&b)
	return b
}

// size returns the number of bits of a filter, and the number of bits per lookup.
func (p plannedFilter) size() (m, k int) {
	f := p.buildPart([][]byte{nil})
	return 8 * (len(f) - 1), int(f[len(f)-1])
}
