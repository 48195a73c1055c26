package wal

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/format"
)

// zeros are the zeros at the end of a log: those from an offset on, up to its size.
type zeros struct{ from, size int64 }

// minTornZeros is how many zeros at the end of a log say that the fragment in which they begin was
// never written completely. Fewer can be the end of a value.
const minTornZeros = 16

// tear reports whether the fragment that ends at an offset is damaged because the log was not
// written any further: the zeros begin in the fragment, so that no other can follow.
func (z zeros) tear(end int64) bool { return z.from < end && z.size-z.from >= minTornZeros }

// NewLogReader is like NewReader for a log of size bytes. After a crash of the machine, a log can
// end in zeros where something was to be written. They count as its end, also if they begin
// within a record.
func NewLogReader(r io.ReaderAt, size int64, report func(Damage)) (*Reader, error) {
	return newLogReader(r, 0, size, blockSize, report)
}

// newLogReader is NewLogReader for a log that starts at an offset, with a block of length block.
func newLogReader(r io.ReaderAt, at, size int64, block int, report func(Damage)) (*Reader, error) {
	from, err := endOfData(r, size)
	if err != nil {
		return nil, err
	}
	reader := NewReader(io.NewSectionReader(r, at, size-at), report)
	reader.blockEnd, reader.blockLen, reader.zeros = at, block, zeros{from, size}
	return reader, nil
}

// endOfData returns where the zeros at the end begin.
func endOfData(r io.ReaderAt, size int64) (int64, error) {
	var buf [blockSize]byte
	for end := size; end > 0; {
		part := buf[:min(end, blockSize)]
		end -= int64(len(part))
		if _, err := io.ReadFull(io.NewSectionReader(r, end, int64(len(part))), part); err != nil {
			return 0, fmt.Errorf("reading %s at %d: %w", format.Plural(uint64(len(part)), "byte"), end, noEOF(err))
		}
		if data := bytes.TrimRight(part, "\x00"); len(data) > 0 {
			return end + int64(len(data)), nil
		}
	}
	return 0, nil
}

// noEOF returns an error that is not taken for the end of the log: the file became shorter.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// EndsInZeros reports whether nothing but zeros follows Offset.
func (r *Reader) EndsInZeros() bool { return r.zeros.from <= r.Offset() }

// hasFragment reports whether a valid fragment starts anywhere in b.
func hasFragment(b []byte) bool {
	for at := range b {
		if validFragmentLen(b[at:]) > 0 {
			return true
		}
	}
	return false
}
