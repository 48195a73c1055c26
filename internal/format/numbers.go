package format

import (
	"encoding/binary"
	"math/bits"
)

// SharedLen returns the length of the common prefix of a and b.
func SharedLen(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if diff := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); diff != 0 {
			return i + bits.TrailingZeros64(diff)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// First8 returns the first 8 bytes of key as a number. The order of the numbers is that of
// the bytes. A shorter key counts as one with zeros at its end.
func First8(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var first [8]byte
	copy(first[:], key)
	return binary.BigEndian.Uint64(first[:])
}

// First4 returns the first 4 bytes of key as First8 returns the first 8.
func First4(key []byte) uint32 { return uint32(First8(key) >> 32) }

// CountLess returns how many of the ascending numbers are < x. Among 64 of them it compares every eighth,
// and then eight in a row, without branches: a processor would often predict those wrong, and fetches the
// numbers from memory at the same time.
func CountLess(ascending []uint32, x uint32) int {
	low, high := 0, len(ascending)
	for high-low > 64 {
		if mid := int(uint(low+high) >> 1); ascending[mid] < x {
			low = mid + 1
		} else {
			high = mid
		}
	}
	rest, eighths := ascending[low:high], 0
	for i := 7; i < len(rest); i += 8 {
		eighths += Less(rest[i], x)
	}
	n := low + 8*eighths
	if rest = rest[8*eighths:]; len(rest) >= 8 {
		return n + countLess8((*[8]uint32)(rest), x)
	}
	for _, number := range rest {
		n += Less(number, x)
	}
	return n
}

// CountLess32 is CountLess of 32 numbers. It takes less time.
func CountLess32(ascending *[32]uint32, x uint32) int {
	n := 8 * (Less(ascending[7], x) + Less(ascending[15], x) + Less(ascending[23], x))
	return n + countLess8((*[8]uint32)(ascending[n&24:]), x)
}

func countLess8(a *[8]uint32, x uint32) int {
	return Less(a[0], x) + Less(a[1], x) + Less(a[2], x) + Less(a[3], x) +
		Less(a[4], x) + Less(a[5], x) + Less(a[6], x) + Less(a[7], x)
}

// Less is 1 if a < b, and else 0. It has no branch, which a processor would often predict wrong.
func Less[T uint32 | uint64](a, b T) int {
	_, borrow := bits.Sub64(uint64(a), uint64(b), 0)
	return int(borrow)
}
