package table

import (
	"bytes"
	"cmp"

	"github.com/sievetable/sievetable/internal/format"
)

// A keyOrder is the order of a Comparer. The bytewise order, and that of internal keys with
// bytewise user keys, need no indirect calls: merging iterators compare keys at each move.
type keyOrder struct {
	f        func(a, b []byte) int // nil: bytewise
	internal bool                  // internal keys, whose user keys are in the bytewise order
}

// orderOf returns the order of c.
func orderOf(c Comparer) keyOrder {
	o := BlockOrder(c)
	return keyOrder{o.Func, o.Suffix > 0}
}

// bytewise reports whether the part of keys that ordered returns is in the bytewise order.
func (o *keyOrder) bytewise() bool { return o.f == nil || o.internal }

// ordered returns the part of key that is compared first: the user key of an internal key.
func (o *keyOrder) ordered(key []byte) []byte {
	if o.internal {
		return key[:max(0, len(key)-format.InternalTrailerLen)]
	}
	return key
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
