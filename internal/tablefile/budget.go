package tablefile

import "math"

// A Budget bounds the memory that one operation takes for keys and messages: Fixed bytes, and PerByte bytes for each
// byte of the file.
//
// The blocks themselves, stored and decompressed, take at most 1 + maxSnappyGain times their size in the file, since
// grow allocates no more than is needed. A decoded.Block takes at most 3 MiB, with what it has outgrown. All together
// is < 64 MiB plus 32 times the size of the file.
type Budget struct{ Fixed, PerByte uint64 }

// A key that shares bytes with the key before has to be rebuilt in memory. It can be as long as its block,
// decompressed.
var (
	dataKeyBudget      = Budget{55 << 20, 3} // of an Iter, a lookup or Verify
	indexKeyBudget     = Budget{1 << 20, 1}
	separatorBudget    = Budget{1 << 20, 1} // of the index, if its separators share bytes
	metaindexKeyBudget = Budget{1 << 20, 1}
)

// KeyBudget returns how many bytes of memory an operation may take for keys of data blocks that share bytes.
func (f *File) KeyBudget() int { return f.Allow(dataKeyBudget) }

// Allow returns the budget for the file.
func (f *File) Allow(b Budget) int {
	return int(min(b.Fixed+b.PerByte*min(f.FooterOffset, math.MaxInt64/8), math.MaxInt))
}

// compareBudget returns how many bytes of keys may be compared in a block of that length, decompressed, in an order
// that has to see whole keys. Each key is compared with the key before. The keys of a block by block.Writer are
// together at most 257 times as long as the block. So are those of other engines, unless hundreds of long keys follow
// a restart point.
func compareBudget(length int) int64 { return 64<<10 + 1024*int64(length) }

// grow returns b with capacity for n more bytes. Unlike append, it allocates no more than that.
func grow(b []byte, n int) []byte {
	if n <= cap(b)-len(b) {
		return b
	}
	return append(make([]byte, 0, len(b)+n), b...)
}
