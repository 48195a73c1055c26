// Package wire handles bytes of a file that nobody has checked yet: it decodes
// the integers that tables are made of, compares the starts of keys, and quotes
// keys for errors.
package wire

// Uvarint decodes a base-128 varint from the start of b and returns it with
// the number of bytes it took. A varint that is truncated, over-long (more
// than 64 bits) or not minimal (padded with zero groups) gives n == 0: each
// value has one encoding only, so two readers cannot differ over it.
func Uvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return long(b)
}

// long is kept apart so that Uvarint is inlined for lengths below 128.
func long(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i == 9 && c > 1 {
			return 0, 0
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c == 0 && i > 0 {
				return 0, 0
			}
			return v, i + 1
		}
	}
	return 0, 0
}
