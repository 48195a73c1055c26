package table

import "math"

// room bounds memory that blocks ask for beyond their own: that many bytes, and
// that many for each byte of the file. What blocks take themselves, stored and
// decompressed, is at most 1 + maxSnappyGain times what they take in the file,
// if their buffers grow by what is wanted and no more; all together stays below
// 64 MiB and 32 times the file, for one operation on any file.
type room struct{ fixed, perByte uint64 }

// Keys that share bytes with the one before are put together in memory, and can
// be as long as their block.
var (
	dataKeys      = room{53 << 20, 4} // an Iter's, a lookup's or a Verify's
	indexKeys     = room{4 << 20, 1}
	separators    = room{4 << 20, 1} // those of the index, if they share bytes
	metaindexKeys = room{1 << 20, 1}
	findings      = room{1 << 19, 1} // what Verify finds, and once more the keys that filters deny
)

// of returns the room in a file of size bytes.
func (m room) of(size uint64) int {
	return int(min(m.fixed+m.perByte*min(size, math.MaxInt64/8), math.MaxInt))
}

// extend returns b with room for n more bytes. If it has to be moved, it gets
// no more than that.
func extend(b []byte, n int) []byte {
	if n <= cap(b)-len(b) {
		return b
	}
	return append(make([]byte, 0, len(b)+n), b...)
}
