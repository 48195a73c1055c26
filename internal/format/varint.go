package format

// Uvarint decodes the base-128 varint at the start of b, and returns its value and its length.
// The length is 0 if the varint is cut short, has more than 64 bits, or is not minimal, with
// zero bits at its end. So each value has a single encoding, and all readers agree on it.
func Uvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return longUvarint(b)
}

// longUvarint decodes any varint. It is a function of its own so that Uvarint is inlined, which
// decodes values < 128. Handles have offsets of 3 or 4 bytes and lengths of 2 most often: these
// take no loop.
func longUvarint(b []byte) (v uint64, n int) {
	switch {
	case len(b) > 1 && b[1]-1 < 0x7f:
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	case len(b) > 2 && b[1] >= 0x80 && b[2]-1 < 0x7f:
		return uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7 | uint64(b[2])<<14, 3
	case len(b) > 3 && b[1] >= 0x80 && b[2] >= 0x80 && b[3]-1 < 0x7f:
		return uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7 | uint64(b[2]&0x7f)<<14 | uint64(b[3])<<21, 4
	}
	return anyUvarint(b)
}

// anyUvarint decodes any varint.
func anyUvarint(b []byte) (v uint64, n int) {
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

// AppendNotNil appends b to dst. What is empty is not nil.
func AppendNotNil(dst, b []byte) []byte {
	if dst == nil && len(b) == 0 {
		return []byte{}
	}
	return append(dst, b...)
}
