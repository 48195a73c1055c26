package rowblock

import "math"

// A Budget bounds the work on the keys of a block that is not checked yet. Entries share
// bytes of their keys, so that a few bytes of a damaged block can stand for many long
// keys. Functions that take a Budget subtract what they use, and return an error if it
// does not suffice. A nil *Budget sets no bound; the zero value allows nothing.
type Budget struct {
	// Memory is how many bytes may be allocated for keys.
	Memory int

	// Compared is how many bytes of keys may be compared, in an order that is not
	// Bytewise.
	Compared int64
}

// start returns a copy of b to work with.
func (b *Budget) start() Budget {
	if b == nil {
		return Budget{math.MaxInt, math.MaxInt64}
	}
	return *b
}

// end sets b to what is left.
func (b *Budget) end(left Budget) {
	if b != nil {
		*b = left
	}
}
