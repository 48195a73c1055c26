package filter

import (
	"bytes"
	"fmt"
)

// Union returns a [Bloom] filter with all keys of the filters a and b, which must have the
// same size and k. It is identical to a filter of that size built from the keys of both. If
// a filter is corrupt or k > 30, Union returns an error.
func Union(a, b []byte) ([]byte, error) {
	return combine("a union", a, b, (*DynamicBloom).Union)
}

// Intersect returns a [Bloom] filter with the keys that are in both of the filters a and b,
// which must have the same size and k. Its false positives are those that both filters have,
// and keys of one filter that are false positives of the other. If a filter is corrupt or
// k > 30, Intersect returns an error.
func Intersect(a, b []byte) ([]byte, error) {
	return combine("an intersection", a, b, (*DynamicBloom).Intersect)
}

func combine(operation string, a, b []byte, combine func(f, other *DynamicBloom) error) ([]byte, error) {
	f, err := OpenDynamicBloom(a)
	if err != nil {
		return nil, fmt.Errorf("%w, in the first filter of %s", err, operation)
	}
	other, err := OpenDynamicBloom(b)
	if err != nil {
		return nil, fmt.Errorf("%w, in the second filter of %s", err, operation)
	}
	if err := combine(f, other); err != nil {
		return nil, err
	}
	return f.Bytes(), nil
}

// UnionTable returns a [TableBloom] filter with all keys of the filters a and b, which must
// have the same number of lines and k. It is identical to a filter of that size built from
// the keys of both. Build a and b with [TableBloom.SizedFor] for the number of keys that
// they have together: the union then has the false-positive rate of that number.
//
// A filter without keys can be combined with any other. If a filter is corrupt, UnionTable
// returns an error.
func UnionTable(a, b []byte) ([]byte, error) {
	first, err := TableBloom{}.Open(a)
	if err != nil {
		return nil, fmt.Errorf("%w, in the first filter of a union", err)
	}
	second, err := TableBloom{}.Open(b)
	if err != nil {
		return nil, fmt.Errorf("%w, in the second filter of a union", err)
	}
	x, y := first.(*tableBloomFilter), second.(*tableBloomFilter)
	switch emptyTableBloom { // which has no lines
	case x:
		return bytes.Clone(b), nil
	case y:
		return bytes.Clone(a), nil
	}
	if x.n != y.n || x.k != y.k {
		return nil, fmt.Errorf("filter: a union of table filters of %d lines with k = %d and %d lines with k = %d, "+
			"want equal sizes and k", x.n, x.k, y.n, y.k)
	}
	c := bytes.Clone(a)
	for i, lineByte := range y.lines {
		c[i] |= lineByte
	}
	return c, nil
}
