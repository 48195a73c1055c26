package rowblock

import "bytes"

// An Order is what package block's is. The zero value is the bytewise order.
type Order struct {
	Func      func(a, b []byte) int // nil: bytes.Compare
	Suffix    int                   // bytes at the end of each key that are not in the bytewise order
	Unchecked bool                  // keys are in any order
}

// Compare returns a negative number if a comes before b, a positive one if it comes after
// b, and 0 if they are the same key.
func (o *Order) Compare(a, b []byte) int {
	if o.Func == nil {
		return bytes.Compare(a, b)
	}
	return o.Func(a, b)
}

// Bytewise reports whether keys are in the bytewise order, without the bytes of Suffix.
func (o *Order) Bytewise() bool { return o.Func == nil || o.Suffix > 0 }

// Prefix returns key without the bytes of Suffix: the part that is in the bytewise order.
func (o *Order) Prefix(key []byte) []byte { return key[:max(0, len(key)-o.Suffix)] }

// skippable returns how many bytes at the start of two keys Compare need not see. The
// keys have the lengths a and b, and share their first shared bytes.
func (o *Order) skippable(shared, a, b int) int {
	if o.Func == nil {
		return shared
	}
	if o.Suffix == 0 {
		return 0
	}
	return min(shared, max(0, a-o.Suffix), max(0, b-o.Suffix))
}
