package wal

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/sievetable/sievetable/internal/crc"
)

// carvedSearchLen is how much of the start of a log is looked at for its first fragment.
const carvedSearchLen = 4 * blockSize

// NewCarvedReader is NewReader of a log in r, of size bytes, that may lack its start: what
// was carved out of a disk starts anywhere in a block. It begins at the first fragment whose
// checksum is right.
func NewCarvedReader(r io.ReaderAt, size int64, report func(Damage)) *Reader {
	start := make([]byte, min(size, carvedSearchLen))
	n, _ := r.ReadAt(start, 0) // an error is the Reader's too
	at, block := firstFragment(start[:n])
	if at > 0 {
		report(Damage{0, at, "no valid fragment"})
	}
	reader := NewReader(io.NewSectionReader(r, at, size-at), report)
	reader.blockEnd, reader.blockLen = at, block
	return reader
}

// firstFragment returns where the first sound fragment is, and how long the rest of its
// block is. Without any it is at 0, of a whole block.
func firstFragment(log []byte) (at int64, block int) {
	for at := range log {
		if length := validFragmentLen(log[at:]); length > 0 {
			return int64(at), remainingBlockLen(log[at:])
		}
	}
	return 0, blockSize
}

// remainingBlockLen returns the length of the block's rest that begins with a sound fragment: that of
// a record that goes on in the next block ends with the block, and behind the last one of
// another there are up to 6 zeros.
func remainingBlockLen(log []byte) int {
	for at := 0; at < blockSize; {
		length := validFragmentLen(log[at:])
		if length == 0 {
			for pad := range fragmentHeaderLen {
				if at+pad < len(log) && validFragmentLen(log[at+pad:]) > 0 {
					return at + pad
				}
			}
			break // damaged, or the end
		}
		if kind := log[at+6]; kind == kindFirst || kind == kindMiddle {
			return at + length
		}
		at += length
	}
	return blockSize
}

// validFragmentLen returns the length of the fragment that b begins with, or 0 if there is none.
func validFragmentLen(b []byte) int {
	if len(b) < fragmentHeaderLen || b[6] < kindFull || b[6] > kindLast {
		return 0
	}
	whole := fragmentHeaderLen + int(binary.LittleEndian.Uint16(b[4:]))
	if whole > min(len(b), blockSize) || binary.LittleEndian.Uint32(b) != crc.Mask(crc32.Checksum(b[6:whole], castagnoli)) {
		return 0
	}
	return whole
}
