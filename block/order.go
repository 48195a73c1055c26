package block

import (
	"bytes"
	"errors"
)

// ErrOrder is what the error is, for errors.Is, for a block whose keys are not in
// increasing order. The block is damaged, or was written in another Order.
var ErrOrder = errors.New("keys are not in increasing order")

// An Order is how the keys of a block compare. The zero value is the bytewise order.
type Order struct {
	// Compare returns a negative number if a comes before b, a positive one if it
	// comes after b, and 0 if they are the same key. nil: bytes.Compare.
	Compare func(a, b []byte) int

	// Suffix is how many bytes at the end of each key only Compare can order.
	// Without them keys are in the bytewise order, and a shorter key than that
	// comes first. It is 8 for internal keys over the bytewise order. It only makes
	// reading faster.
	Suffix int

	// Unchecked takes keys in the order in which they are, whatever it is: for
	// blocks whose order is unknown or damaged. Such blocks can be iterated, not
	// searched.
	Unchecked bool
}

// compare compares two keys.
func (o *Order) compare(a, b []byte) int {
	if o.Compare == nil {
		return bytes.Compare(a, b)
	}
	return o.Compare(a, b)
}

// prefixed reports whether keys without their suffix are in the bytewise order.
func (o *Order) prefixed() bool { return o.Compare == nil || o.Suffix > 0 }

// prefix returns the part of key that is in the bytewise order, if prefixed.
func (o *Order) prefix(key []byte) []byte { return key[:max(0, len(key)-o.Suffix)] }

// skippable returns how many of the bytes that two keys of lengths a and b share at
// the start cannot make a difference to Compare.
func (o *Order) skippable(shared, a, b int) int {
	if o.Compare == nil {
		return shared
	}
	if o.Suffix == 0 {
		return 0
	}
	return min(shared, max(0, a-o.Suffix), max(0, b-o.Suffix))
}
