package filter

import (
	"bytes"
	"fmt"
)

// Union returns a [Bloom] filter of all keys of the filters a and b, which must have the same size and k. It is
// identical to a filter of that size built from the keys of both.
func Union(a, b []byte) ([]byte, error) {
	return combine("a union", a, b, (*DynamicBloom).Union)
}

// Intersect returns a [Bloom] filter of the keys that are in both of the filters a and b, which must have the same
// size and k. Every key that passes both passes it, so it has more false positives than a filter built from these
// keys.
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

// UnionTable returns a [TableBloom] filter of all keys of the filters a and b. Build both with
// [TableBloom.SizedFor] for the number of keys that they have together: the union is then identical to a filter of
// all keys. If the numbers of lines or k differ, and neither filter is empty, UnionTable returns an error.
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
		return nil, fmt.Errorf("filter: union of table filters of %d lines with k = %d and %d lines with k = %d: "+
			"sizes and k must be equal", x.n, x.k, y.n, y.k)
	}
	c := bytes.Clone(a)
	for i, lineByte := range y.lines {
		c[i] |= lineByte
	}
	return c, nil
}
