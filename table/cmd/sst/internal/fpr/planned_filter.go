package fpr

import "github.com/sievetable/sievetable/filter"

// A plannedFilter is what a filter planned for so many keys is, however many it gets.
type plannedFilter struct {
	keys      int
	generator filter.Generator
}

func newPlannedFilter(keys, bitsPerKey int) plannedFilter {
	return plannedFilter{keys, filter.NewBloom(bitsPerKey).NewGenerator()}
}

// build returns a filter of the planned size with the keys, up to twice as many
// as planned. What is beyond the plan has a filter of its own, and the union of
// the two is the filter that one bit array would have become.
func (p plannedFilter) build(keys [][]byte) ([]byte, error) {
	if len(keys) <= p.keys {
		return p.buildPart(keys), nil
	}
	return filter.Union(p.buildPart(keys[:p.keys]), p.buildPart(keys[p.keys:]))
}

// buildPart returns a filter with at most as many keys as planned. A generator sizes
// its filter by the keys it was given: the last one, given again and again, sets
// no further bits and makes up the number.
func (p plannedFilter) buildPart(keys [][]byte) []byte {
	for i := range p.keys {
		p.generator.Add(keys[min(i, len(keys)-1)])
	}
	var b filter.Bytes
	p.generator.Generate(&b)
	return b
}

// size returns the bits of a planned filter and the bits that a key sets in it.
func (p plannedFilter) size() (m, k int) {
	f := p.buildPart([][]byte{nil})
	return 8 * (len(f) - 1), int(f[len(f)-1])
}
