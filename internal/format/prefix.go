package format

import "bytes"

// WithinPrefix narrows bounds, lower <= key < upper, to the keys that start with prefix, in bytewise order. A nil
// bound means no bound.
func WithinPrefix(lower, upper, prefix []byte) (l, u []byte) {
	if len(prefix) == 0 {
		return lower, upper
	}
	return Narrow(lower, upper, prefix, PrefixEnd(prefix), bytes.Compare)
}

// Narrow narrows bounds, lower <= key < upper, to first <= key < end in the order of compare. A nil end means no
// bound.
func Narrow(lower, upper, first, end []byte, compare func(a, b []byte) int) (l, u []byte) {
	if compare(first, lower) > 0 {
		lower = first
	}
	if end != nil && (upper == nil || compare(end, upper) < 0) {
		upper = end
	}
	return lower, upper
}

// PrefixEnd returns the first key after all keys that start with prefix, in bytewise order, or nil if there is none.
func PrefixEnd(prefix []byte) []byte {
	for n := len(prefix); n > 0; n-- {
		if last := prefix[n-1]; last < 0xff {
			return append(append([]byte{}, prefix[:n-1]...), last+1)
		}
	}
	return nil
}
