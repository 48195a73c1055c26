package block

import (
	"bytes"

	"github.com/sievetable/sievetable/internal/format"
)

// ErrOrder is in the chain of the error for a block whose keys are not in increasing
// order: test for it with errors.Is. Either the block is damaged, or it was written in
// another Order.
var ErrOrder = format.ErrOrder

// An Order is the order of the keys of a block. The zero value is the bytewise order. An
// Order is safe for concurrent use if its Func is.
type Order struct {
	// Func returns a negative number if a comes before b, a positive one if it
	// comes after b, and 0 if they are the same key. nil: bytes.Compare.
	Func func(a, b []byte) int

	// Suffix makes reading faster if Func is almost bytewise. It is the number of bytes
	// at the end of each key that are in another order. Without these bytes, keys must
	// be in the bytewise order, and keys shorter than Suffix must come first. It is 8
	// for internal keys whose user keys are in the bytewise order. 0 is always right.
	Suffix int

	// Unchecked accepts keys in any order. Use it for blocks whose order
	// is unknown, or damaged. The entries of such a block can be iterated, but keys
	// cannot be looked up.
	Unchecked bool
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
