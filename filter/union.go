package filter

import "fmt"

// Union returns a new filter that contains every key of a and of b, two [Bloom]
// filters of the same size and k. Its false-positive rate is that of one filter
// of that size with the keys of both. Filters that are damaged, of reserved k,
// or of different size or k are an error.
func Union(a, b []byte) ([]byte, error) {
	var p Bloom
	if err := p.Check(a); err != nil {
		return nil, fmt.Errorf("filter: first of union: %w", err)
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
