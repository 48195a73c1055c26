package filter

import "fmt"

// Union returns a new filter that contains all keys of the [Bloom] filters a and b.
// It has the same size, and the false-positive rate of one filter of that size with
// the keys of both. It is an error if a and b differ in size or k, if k > 30, or if a
// filter is damaged.
func Union(a, b []byte) ([]byte, error) {
	var p Bloom
	if err := p.Check(a); err != nil {
		return nil, fmt.Errorf("%w, in the first filter of a union", err)
	}
	if len(a) != len(b) {
		return nil, fmt.Errorf("filter: union of filters of %d and %d bytes, want equal sizes", len(a), len(b))
	}
	n := len(a) - 1
	if k := a[n]; k != b[n] || k > maxK {
		return nil, fmt.Errorf("filter: union of filters with k = %d and %d, want equal k of at most %d", k, b[n], maxK)
	}
	u := make([]byte, n+1)
	for i := range n {
		u[i] = a[i] | b[i]
	}
	u[n] = a[n]
	return u, nil
}
