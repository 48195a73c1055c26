package wal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/format"
)

// zeros is the range of zeros at the end of a log, from an offset to its size.
type zeros struct{ from, size int64 }

// minTornZeros is the number of zeros at the end of a log that prove that the fragment in which they begin was never
// written completely. Fewer can be the end of a value.
const minTornZeros = 16

// tear reports whether the fragment that ends at an offset is damaged because writing stopped within it: the zeros
// begin in the fragment, so no other fragment can follow.
func (z zeros) tear(end int64) bool { return z.from < end && z.size-z.from >= minTornZeros }

// NewLogReader is like NewReader, for a log of size bytes. After a crash of the machine, a log can end in zeros in
// place of data. They count as its end, even if they begin within a record.
func NewLogReader(r io.ReaderAt, size int64, report func(Damage)) (*Reader, error) {
	from, err := endOfData(r, size)
	if err != nil {
		return nil, err
	}
	reader := NewReader(io.NewSectionReader(r, 0, size), report)
	reader.zeros = zeros{from, size}
	return reader, nil
}

// endOfData returns the offset of the zeros at the end.
func endOfData(r io.ReaderAt, size int64) (int64, error) {
	var buf [blockSize]byte
	for end := size; end > 0; {
		part := buf[:min(end, blockSize)]
		end -= int64(len(part))
		if _, err := io.ReadFull(io.NewSectionReader(r, end, int64(len(part))), part); err != nil {
			if err == io.EOF { // the file was truncated: this is not the end of the log
				err = io.ErrUnexpectedEOF
			}
			return 0, fmt.Errorf("reading %s at %d: %w", format.Plural(uint64(len(part)), "byte"), end, err)
		}
		if data := bytes.TrimRight(part, "\x00"); len(data) > 0 {
			return end + int64(len(data)), nil
		}
	}
	return 0, nil
}

// EndsInZeros reports whether only zeros follow Offset.
func (r *Reader) EndsInZeros() bool { return r.zeros.from <= r.Offset() }

// findFragment returns the offset of the first valid fragment in b, or -1.
func findFragment(b []byte) int {
	for at := range b {
		if validFragmentLen(b[at:]) > 0 {
			return at
		}
	}
	return -1
}

// carvedSearchLen is the number of bytes of a carved log that are searched for the first valid fragment.
const carvedSearchLen = 4 * blockSize

// newCarvedReader is like NewLogReader for a log that may lack its start, such as one that was carved out of a disk
// image. Reading begins at the first fragment with a valid checksum, anywhere in a block.
func newCarvedReader(r io.ReaderAt, size int64, report func(Damage)) (*Reader, error) {
	start := make([]byte, min(size, carvedSearchLen))
	n, err := r.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	at := findFragment(start[:n])
	if at > 0 {
		report(Damage{Offset: 0, Bytes: int64(at), Reason: "no valid fragment"})
	}
	reader, err := NewLogReader(r, size, report)
	if err == nil && at >= 0 {
		reader.blockEnd, reader.blockLen = int64(at), remainingBlockLen(start[at:n])
		reader.r = io.NewSectionReader(r, reader.blockEnd, size-reader.blockEnd)
	}
	return reader, err
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

// FirstFragment returns the payload of the fragment at the start of b. ok is false if b does
// not start with a whole fragment, of a known kind and with a valid checksum.
func FirstFragment(b []byte) (payload []byte, ok bool) {
	end := validFragmentLen(b)
	return b[min(FragmentHeaderLen, end):end], end > 0
}

// validFragmentLen returns the length of the fragment at the start of b, or 0 if it is not
// valid.
func validFragmentLen(b []byte) int {
	if len(b) < FragmentHeaderLen || !isKnown(b[6]) {
		return 0
	}
	return checkedFragmentLen(b, FragmentHeaderLen)
}

// checkedFragmentLen returns the length of the fragment at the start of b, whose header has that many bytes. It
// returns 0 if the fragment is truncated or its checksum does not match.
func checkedFragmentLen(b []byte, header int) int {
	end := header + int(binary.LittleEndian.Uint16(b[4:]))
	if end > min(len(b), blockSize) || binary.LittleEndian.Uint32(b) != format.CRC(b[6:end]) {
		return 0
	}
	return end
}
