package table

import "bytes"

// keyOrder is a Comparer's order. Iterators over many tables compare at each move.
type keyOrder struct {
	f func(a, b []byte) int // nil: bytewise
}

// orderOf returns c's order.
func orderOf(c Comparer) keyOrder { return keyOrder{compareFunc(c)} }

func (o *keyOrder) compare(a, b []byte) int {
	if o.f == nil {
		return bytes.Compare(a, b)
	}
	return o.f(a, b)
}
