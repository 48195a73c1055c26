package wal

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/sievetable/sievetable/internal/format"
)

// carvedSearchLen is how much of a carved log is searched for the first valid fragment.
const carvedSearchLen = 4 * blockSize

// NewCarvedReader is like NewLogReader for a log that may lack its start, such as one that was
// carved out of a disk image. The log has size bytes. Reading begins at the first fragment
// with a valid checksum, anywhere in a block.
func NewCarvedReader(r io.ReaderAt, size int64, report func(Damage)) (*Reader, error) {
	start := make([]byte, min(size, carvedSearchLen))
	n, err := r.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	at, block := firstFragment(start[:n])
	if at > 0 {
		report(Damage{Offset: 0, Bytes: at, Reason: "no valid fragment"})
	}
	return newLogReader(r, at, size, block, report)
}

// firstFragment returns the offset of the first valid fragment, and the length of the rest
// of its block. Without a valid fragment it returns offset 0 and a whole block.
func firstFragment(log []byte) (at int64, block int) {
	for at := range log {
		if length := validFragmentLen(log[at:]); length > 0 {
			return int64(at), remainingBlockLen(log[at:])
		}
	}
	return 0, blockSize
}

// remainingBlockLen returns the length of the rest of the block that starts with a valid
// fragment. A first or middle fragment ends with its block. After the last fragment of a
// block there are up to 6 zeros.
func remainingBlockLen(log []byte) int {
	for at := 0; at < blockSize; {
		length := validFragmentLen(log[at:])
		if length == 0 {
			for pad := range FragmentHeaderLen {
				if at+pad < len(log) && validFragmentLen(log[at+pad:]) > 0 {
					return at + pad
				}
			}
			break // damage, or the end of the log
		}
		if kind := log[at+6]; kind == kindFirst || kind == kindMiddle {
			return at + length
		}
		at += length
	}
	return blockSize
}

// validFragmentLen returns the length of the fragment at the start of b, or 0 if it is not
// valid.
func validFragmentLen(b []byte) int {
	payload, ok := FirstFragment(b)
	if !ok {
		return 0
	}
	return FragmentHeaderLen + len(payload)
}

// FirstFragment returns the payload of the fragment at the start of b. ok is false if b does
// not start with a whole fragment, of a known kind and with a valid checksum.
func FirstFragment(b []byte) (payload []byte, ok bool) {
	if len(b) < FragmentHeaderLen || b[6] < kindFull || b[6] > kindLast {
		return nil, false
	}
	end := FragmentHeaderLen + int(binary.LittleEndian.Uint16(b[4:]))
	if end > min(len(b), blockSize) || binary.LittleEndian.Uint32(b) != format.MaskCRC(crc32.Checksum(b[6:end], castagnoli)) {
		return nil, false
	}
	return b[FragmentHeaderLen:end], true
}
