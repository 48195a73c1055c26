package table

import (
	"context"
	"fmt"
	"io"
)

// A SliceReaderAt is a source that can hand out its bytes, such as a file that is mapped into
// memory, or [Bytes]. A Reader of it copies neither the filters nor an uncompressed index, and searches
// uncompressed data blocks where they lie. NewReader then reads the footer only: the rest is read, and its
// damage is found, by the first method that needs it.
type SliceReaderAt interface {
	io.ReaderAt

	// Slice returns the n bytes at offset off. The Reader does not change them. They must stay
	// readable as long as the Reader, an Iter or another method of it can use them. If they
	// change, answers can be wrong. It must be safe for concurrent use.
	Slice(off int64, n int) ([]byte, error)
}

// Bytes are a table in memory, as a source for NewReader. They must not change.
type Bytes []byte

// ReadAt reads as [io.ReaderAt] says.
func (b Bytes) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("table: offset %d, want 0 or more", off)
	}
	n := copy(p, b[min(off, int64(len(b))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Slice returns a part of b. If b is too short, the error is io.ErrUnexpectedEOF.
func (b Bytes) Slice(off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(b)) || int64(n) > int64(len(b))-off {
		return nil, io.ErrUnexpectedEOF
	}
	return b[off : off+int64(n) : off+int64(n)], nil
}

// slice returns the n bytes at offset of a source that hands them out. ctx may be nil.
func (f *tableFile) slice(ctx context.Context, kind BlockKind, offset uint64, n int) ([]byte, error) {
	if ctx != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	p, err := f.slices.Slice(int64(offset), n)
	if err == nil && len(p) != n {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, f.endRead(kind, nil, offset, -1, err)
	}
	return p, nil
}
