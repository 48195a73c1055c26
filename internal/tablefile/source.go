package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// MaxReadSize is the most bytes of a single read that covers several blocks, whatever the options say.
const MaxReadSize = 1 << 30

// A ContextReader is a source whose reads a context can end: table.ContextReaderAt.
type ContextReader interface {
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// A Slicer is a source that hands out its bytes: table.SliceReaderAt.
type Slicer interface {
	io.ReaderAt
	Slice(off int64, n int) ([]byte, error)
}

// read fills p with the bytes at offset, unless ctx ends that. ctx may be nil.
func (f *File) read(ctx context.Context, kind Kind, p []byte, offset uint64) error {
	if ctx != nil {
		return f.readContext(ctx, kind, p, offset)
	}
	return f.readAt(kind, p, offset)
}

// readAt fills p with the bytes at offset. An error of the source is in the chain of the error.
func (f *File) readAt(kind Kind, p []byte, offset uint64) error {
	n, err := f.src.ReadAt(p, int64(offset))
	if n == len(p) && (err == nil || err == io.EOF) {
		return nil
	}
	return f.readError(kind, offset, err)
}

// readContext is readAt with a context. If that is done when the read ends, the error is the context's.
func (f *File) readContext(ctx context.Context, kind Kind, p []byte, offset uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := 0, error(nil)
	if src, ok := f.src.(ContextReader); ok {
		n, err = src.ReadAtContext(ctx, p, int64(offset))
	} else {
		n, err = f.src.ReadAt(p, int64(offset))
	}
	if n == len(p) && (err == nil || err == io.EOF) {
		return ctx.Err()
	}
	err = f.readError(kind, offset, err)
	if done := ctx.Err(); done != nil && !errors.Is(err, done) {
		return errors.Join(done, err)
	}
	return err
}

// readError returns the error of a read that failed, or that the source ended too early: that is
// io.ErrUnexpectedEOF. A wrapped EOF can be that of a connection.
func (f *File) readError(kind Kind, offset uint64, err error) error {
	if f.closed.Load() {
		return ErrClosed
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("table: reading %s at %d: %w", kind, offset, err)
}

// slice returns the n bytes at offset of a source that hands them out. ctx may be nil.
func (f *File) slice(ctx context.Context, kind Kind, offset uint64, n int) ([]byte, error) {
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
		return nil, f.readError(kind, offset, err)
	}
	return p, nil
}

// ReadBytes reads b at off, as io.ReaderAt says.
func ReadBytes(b, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("table: offset %d, want 0 or more", off)
	}
	n := copy(p, b[min(off, int64(len(b))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// SliceBytes returns the n bytes of b at off. If b is too short, the error is io.ErrUnexpectedEOF.
func SliceBytes(b []byte, off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(b)) || int64(n) > int64(len(b))-off {
		return nil, io.ErrUnexpectedEOF
	}
	return b[off : off+int64(n) : off+int64(n)], nil
}
