package format

import (
	"encoding/binary"
	"hash/crc32"
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

// First8 returns the first 8 bytes of key as a number. The numbers have the order of the bytes. A shorter key is
// padded with zeros.
func First8(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var first [8]byte
	copy(first[:], key)
	return binary.BigEndian.Uint64(first[:])
}

// First4 is like First8 for the first 4 bytes.
func First4(key []byte) uint32 { return uint32(First8(key) >> 32) }

// CountLess returns how many of the ascending numbers are < x. Among the last 64 candidates it compares every
// eighth, and then eight in a row, without branches, which the processor would often mispredict. That also lets it
// load the numbers from memory at the same time.
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

// CountLess32 is CountLess for 32 numbers of 64 bits. It has no loop.
func CountLess32(ascending *[32]uint64, x uint64) int {
	n := 8 * (Less(ascending[7], x) + Less(ascending[15], x) + Less(ascending[23], x))
	return n + countLess8((*[8]uint64)(ascending[n&24:]), x)
}

func countLess8[T uint32 | uint64](a *[8]T, x T) int {
	return Less(a[0], x) + Less(a[1], x) + Less(a[2], x) + Less(a[3], x) +
		Less(a[4], x) + Less(a[5], x) + Less(a[6], x) + Less(a[7], x)
}

// Less returns 1 if a < b, and otherwise 0. It has no branch, which the processor would often mispredict.
func Less[T uint32 | uint64](a, b T) int {
	_, borrow := bits.Sub64(uint64(a), uint64(b), 0)
	return int(borrow)
}

// Uvarint decodes the base-128 varint at the start of b, and returns its value and its length. The length is 0 if
// the varint is truncated, exceeds 64 bits, or is not minimal (its last byte is zero). So each value has a single
// encoding, and all readers agree on it.
func Uvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return longUvarint(b)
}

// longUvarint decodes any varint. It is a separate function so that Uvarint, which decodes values < 128, is inlined.
// Most handles have offsets of 3 or 4 bytes and lengths of 2: these are decoded without a loop.
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

// AppendNotNil appends b to dst. Its result is never nil.
func AppendNotNil(dst, b []byte) []byte {
	if dst == nil && len(b) == 0 {
		return []byte{}
	}
	return append(dst, b...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskDelta is added to the rotated CRC, since a CRC of data that contains CRCs would be weak (LevelDB's log and
// table formats).
const maskDelta = 0xa282ead8

// Checksum returns the masked CRC-32C of a block's stored contents and its compression id.
func Checksum(contents []byte, compression byte) uint32 {
	// One step of the table algorithm: a slice of one byte would be allocated.
	c := ^crc32.Checksum(contents, castagnoli)
	return MaskCRC(^(castagnoli[byte(c)^compression] ^ c>>8))
}

// CRC returns the masked CRC-32C of b.
func CRC(b []byte) uint32 { return MaskCRC(crc32.Checksum(b, castagnoli)) }

// MaskCRC returns the masked form of a CRC, as stored in files.
func MaskCRC(c uint32) uint32 { return (c>>15 | c<<17) + maskDelta }
