package table

import "math"

// below reports whether all of data block i is known to be below the bounds.
func (it *Iter) below(i int) bool {
	return it.lower != nil && i < it.r.index.len() && it.order(it.r.index.separator(i), it.lower) < 0
}

// above reports whether all of data block i is known to be above the bounds, or
// ruled out.
func (it *Iter) above(i int) bool {
	return it.none || it.upper != nil && i > 0 && it.order(it.r.index.separator(i-1), it.upper) >= 0
}

// end returns the first data block that is known to be above the bounds, or how many
// there are.
func (it *Iter) end() int {
	if n := it.r.index.len(); it.upper == nil || n == 0 {
		return n
	}
	return min(it.r.index.search(it.upper)+1, it.r.index.len())
}

// bound finds the bounds in data block i, which is open, once for all moves in
// it.
func (it *Iter) bound(i int) {
	it.from, it.to = 0, math.MaxInt
	if it.lower == nil && it.upper == nil {
		return
	}
	index := it.r.index
	if it.lower != nil && (i == 0 || it.order(index.separator(i-1), it.lower) < 0) {
		it.c.seekGE(it.lower)
		it.from = it.c.number()
	}
	if it.upper != nil && it.order(index.separator(i), it.upper) >= 0 && it.c.seekGE(it.upper) {
		it.to = it.c.number()
	}
	it.c.first() // a key in the cursor's buffer would make its next seek copy the one sought
}
