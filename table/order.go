package table

import (
	"bytes"
	"cmp"

	"github.com/sievetable/sievetable/internal/format"
)

// keyOrder is a Comparer's order. The bytewise order, and that of internal keys over
// it, take no indirect calls: iterators over many tables compare at each move.
type keyOrder struct {
	f        func(a, b []byte) int // nil: bytewise
	internal bool                  // bytewise but for the trailers of internal keys
}

// orderOf returns c's order.
func orderOf(c Comparer) keyOrder {
	o := BlockOrder(c)
	return keyOrder{o.Func, o.Suffix > 0}
}

func (o *keyOrder) compare(a, b []byte) int {
	switch {
	case o.f == nil:
		return bytes.Compare(a, b)
	case !o.internal || len(a) < format.InternalTrailerLen || len(b) < format.InternalTrailerLen:
		return o.f(a, b)
	}
	ua, ta := splitInternal(a)
	ub, tb := splitInternal(b)
	if c := bytes.Compare(ua, ub); c != 0 {
		return c
	}
	return cmp.Compare(tb, ta)
}
