package block

import (
	"bytes"

	"github.com/sievetable/sievetable/internal/format"
)

// ErrOrder is what the error is, for errors.Is, for a block whose keys are not in
// increasing order. The block is damaged, or was written in another Order.
var ErrOrder = format.ErrOrder

// An Order is how the keys of a block compare. The zero value is the bytewise order. It
// is safe for concurrent use, as its Func is.
type Order struct {
	// Func returns a negative number if a comes before b, a positive one if it
	// comes after b, and 0 if they are the same key. nil: bytes.Compare.
	Func func(a, b []byte) int

	// Suffix is how many bytes at the end of each key only Func can order.
	// Without them keys are in the bytewise order, and a shorter key than that
	// comes first. It is 8 for internal keys over the bytewise order. It only makes
	// reading faster.
	Suffix int

	// Unchecked takes keys in the order in which they are, whatever it is: for
	// blocks whose order is unknown or damaged. Such blocks can be iterated, not
	// searched.
	Unchecked bool
}

// Compare compares two keys, as Func does.
func (o *Order) Compare(a, b []byte) int {
	if o.Func == nil {
		return bytes.Compare(a, b)
	}
	return o.Func(a, b)
}

// Bytewise reports whether keys, without their Suffix, are in the bytewise order.
func (o *Order) Bytewise() bool { return o.Func == nil || o.Suffix > 0 }

// Prefix returns key without its Suffix.
func (o *Order) Prefix(key []byte) []byte { return key[:max(0, len(key)-o.Suffix)] }

// skippable returns how many of the bytes that two keys of lengths a and b share at
// the start cannot make a difference to Compare.
func (o *Order) skippable(shared, a, b int) int {
	if o.Func == nil {
		return shared
	}
	if o.Suffix == 0 {
		return 0
	}
	return min(shared, max(0, a-o.Suffix), max(0, b-o.Suffix))
}
