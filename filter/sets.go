package filter

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/internal/bloom"
)

// Union returns a new filter that contains all keys of the [Bloom] filters a and b. It has
// the same size, and is the filter of that size with the keys of both: it has its
// false-positive rate too. It is an error if a and b differ in size or k, if k > 30, or if a
// filter is damaged.
//
// Filters of whole tables have [UnionTable].
//
// There is no difference of filters, and no key can be removed from one: its bits can be
// those of other keys too, which would be denied then.
func Union(a, b []byte) ([]byte, error) {
	return combine("a union", a, b, func(x, y byte) byte { return x | y })
}

// Intersect returns a new filter that contains all keys that are in both of the [Bloom]
// filters a and b. A key is a false positive of it if it is one of both filters, or if it is
// in one of them and a false positive of the other. So it has more of them than a filter that
// was built from the common keys. The errors are those of [Union].
func Intersect(a, b []byte) ([]byte, error) {
	return combine("an intersection", a, b, func(x, y byte) byte { return x & y })
}

// combine returns a filter of whose bit array each byte is op of those of a and b.
func combine(operation string, a, b []byte, op func(x, y byte) byte) ([]byte, error) {
	var p Bloom
	if err := p.Check(a); err != nil {
		return nil, fmt.Errorf("%w, in the first filter of %s", err, operation)
	}
	if len(a) != len(b) {
		return nil, fmt.Errorf("filter: %s of filters of %d and %d bytes, want equal sizes", operation, len(a), len(b))
	}
	n := len(a) - 1
	if k := a[n]; k != b[n] || k > bloom.MaxK {
		return nil, fmt.Errorf("filter: %s of filters with k = %d and %d, want equal k of at most %d", operation, k, b[n], bloom.MaxK)
	}
	c := make([]byte, n+1)
	for i := range n {
		c[i] = op(a[i], b[i])
	}
	c[n] = a[n]
	return c, nil
}

// UnionTable returns a new filter that contains all keys of the [TableBloom] filters a and b. It has the
// same number of lines, and is the filter of that size with the keys of both. So build both with
// [TableBloom.SizedFor] for the number of keys that they have together: their union then has the
// false-positive rate of that many. The filter of no keys has a union with any. It is an error if a and b
// differ in lines or k, or if Open does not take one of them.
func UnionTable(a, b []byte) ([]byte, error) {
	x, err := openTableBloom(a)
	if err != nil {
		return nil, fmt.Errorf("%w, in the first filter of a union", err)
	}
	y, err := openTableBloom(b)
	if err != nil {
		return nil, fmt.Errorf("%w, in the second filter of a union", err)
	}
	switch emptyTableBloom { // which has no lines
	case x:
		return bytes.Clone(b), nil
	case y:
		return bytes.Clone(a), nil
	}
	if x.n != y.n || x.k != y.k {
		return nil, fmt.Errorf("filter: a union of table filters of %d lines with k = %d and %d lines with k = %d, want equal sizes and k", x.n, x.k, y.n, y.k)
	}
	c := bytes.Clone(a)
	for i, lineByte := range y.lines {
		c[i] |= lineByte
	}
	return c, nil
}
