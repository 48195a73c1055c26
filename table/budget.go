package table

import "math"

// budget bounds memory that blocks ask for beyond their own: that many bytes, and
// that many for each byte of the file. What blocks take themselves, stored and
// decompressed, is at most 1 + maxSnappyGain times what they take in the file,
// if their buffers grow by what is wanted and no more; all together stays below
// 64 MiB plus 32 times the file, for one operation on any file.
type budget struct{ fixed, perByte uint64 }

// Keys that share bytes with the one before are put together in memory, and can
// be as long as their block.
var (
	dataKeyBudget      = budget{55 << 20, 3} // an Iter's, a lookup's or a Verify's
	indexKeyBudget     = budget{3 << 20, 1}
	separatorBudget    = budget{3 << 20, 1} // those of the index, if they share bytes
	metaindexKeyBudget = budget{1 << 20, 1}
	findingsBudget     = budget{1 << 18, 1} // what Verify finds, and once more the keys that filters deny
)

// maxEntriesMemory is what decoded.Block take at most, until they have grown to
// their bounds.
const maxEntriesMemory = 3 << 20

// compareBudget bounds how many bytes of keys are compared in a block of that
// length, decompressed, in an order that has to see whole keys. Each key is compared
// with the one before, and the keys that a Writer puts into a block are together at
// most 257 times as long as it: see block.Writer. So are those of other engines, unless
// hundreds of long keys follow a restart point.
func compareBudget(length int) int64 { return 64<<10 + 1024*int64(length) }

// of returns the budget in a file of size bytes.
func (b budget) of(size uint64) int {
	return int(min(b.fixed+b.perByte*min(size, math.MaxInt64/8), math.MaxInt))
}

// extend returns b with room for n more bytes. If it has to be moved, it gets
// no more than that.
func extend(b []byte, n int) []byte {
	if n <= cap(b)-len(b) {
		return b
	}
	return append(make([]byte, 0, len(b)+n), b...)
}
