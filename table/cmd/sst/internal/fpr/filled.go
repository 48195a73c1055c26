package fpr

import "github.com/sievetable/sievetable/filter"

// A plan is what a filter planned for so many keys is, however many it gets.
type plan struct {
	keys      int
	generator filter.Generator
}

func newPlan(keys, bitsPerKey int) plan {
	return plan{keys, filter.NewBloom(bitsPerKey).NewGenerator()}
}

// fill returns a filter of the planned size with the keys, up to twice as many
// as planned. What is beyond the plan has a filter of its own, and the union of
// the two is the filter that one bit array would have become.
func (p plan) fill(keys [][]byte) ([]byte, error) {
	if len(keys) <= p.keys {
		return p.part(keys), nil
	}
	return filter.Union(p.part(keys[:p.keys]), p.part(keys[p.keys:]))
}

// part returns a filter with at most as many keys as planned. A generator sizes
// its filter by the keys it was given: the last one, given again and again, sets
// no further bits and makes up the number.
func (p plan) part(keys [][]byte) []byte {
	for i := range p.keys {
		p.generator.Add(keys[min(i, len(keys)-1)])
	}
	var b filter.Bytes
	p.generator.Generate(&b)
	return b
}

// size returns the bits of a planned filter and the bits that a key sets in it.
func (p plan) size() (m, k int) {
	f := p.part([][]byte{nil})
	return 8 * (len(f) - 1), int(f[len(f)-1])
}
