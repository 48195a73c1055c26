package tablefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// MaxReadSize is the maximum size of a single read that covers several blocks, whatever the options say.
const MaxReadSize = 1 << 30

// A ContextReader is a source whose reads can be canceled: see table.NewReader.
type ContextReader interface {
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// A Slicer is a source that hands out its bytes: see table.NewReader.
type Slicer interface {
	io.ReaderAt
	Slice(off int64, n int) ([]byte, error)
}

// noContext is for reads that cannot be canceled.
var noContext context.Context

// read fills p with the bytes at offset. ctx cancels the read, and may be nil. The error wraps the source's error
// and, if ctx is done, ctx's error.
func (f *File) read(ctx context.Context, kind Kind, p []byte, offset uint64) error {
	if t := f.tail; t != nil && t.has(offset, offset+uint64(len(p))) {
		copy(p, t.bytes[offset-t.offset:])
		return nil
	}
	src, ends := f.src.(ContextReader)
	if ctx == nil {
		ctx, ends = context.Background(), false
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := 0, error(nil)
	if ends {
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

// readError returns the error of a failed read. If the source ended too early, it wraps io.ErrUnexpectedEOF. A
// wrapped io.EOF is kept, since it can come from a connection.
func (f *File) readError(kind Kind, offset uint64, err error) error {
	if f.Closed.Load() {
		return ErrClosed
	}
	if fault := (*faultError)(nil); errors.As(err, &fault) {
		return fault
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%sreading %s at %d: %w", f.o.Reporter.Prefix(), kind, offset, err)
}

// slice returns the n bytes at offset from a Slicer. ctx may be nil.
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

// Bytes are a file in memory.
type Bytes []byte

// ReadAt implements io.ReaderAt.
func (b Bytes) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(b).ReadAt(p, off) }

// Slice returns the n bytes at off. If b is too short, the error is io.ErrUnexpectedEOF.
func (b Bytes) Slice(off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(b)) || int64(n) > int64(len(b))-off {
		return nil, io.ErrUnexpectedEOF
	}
	return b[off : off+int64(n) : off+int64(n)], nil
}

// An Ahead reads several blocks at once, for opening a table, moves from block to block, and batches of lookups.
type Ahead struct {
	size   int    // bytes to read at once; 0: each block is read separately
	bytes  []byte // bytes read
	offset uint64 // offset of bytes in the file
}

// Fill reads the bytes of the file from start to end. ctx cancels the read. After an error, a has no bytes.
func (a *Ahead) Fill(ctx context.Context, f *File, kind Kind, start, end uint64) error {
	n := int(end - start)
	if n == 0 {
		return nil
	}
	into, err := sized(a.bytes, n)
	a.bytes, a.offset = nil, start // in case the source panics
	if err != nil {
		return err
	}
	if err := f.read(ctx, kind, into, start); err != nil {
		return err
	}
	a.bytes = into
	return nil
}

// has reports whether a has the bytes of the file from start to end.
func (a *Ahead) has(start, end uint64) bool {
	return start >= a.offset && end <= a.offset+uint64(len(a.bytes))
}

// ReadAhead reads data block i and the blocks after it at once, unless block i has been read ahead. It stops before
// block end, and at the size set by SetAhead. After a failed read it never reads ahead again: blocks are then read
// one by one, so that an error names the block that cannot be read.
func (s *Scratch) ReadAhead(f *File, i, end int) {
	a := &s.ahead
	if a.size == 0 || f.slices != nil {
		return
	}
	h, err := f.Index.Handle(i)
	if err != nil || a.has(h.Offset, h.End()) {
		return
	}
	to := h.Offset
	for ; i < end; i++ {
		next, err := f.Index.Handle(i)
		if err != nil || next.Offset != to || next.End()-h.Offset > uint64(a.size) || next.Length > uint64(f.o.MaxBlockSize) {
			break
		}
		to = next.End()
	}
	if to <= h.End() {
		return // only block i
	}
	if a.Fill(s.ctx, f, DataBlock, h.Offset, to) != nil {
		a.size = 0
	}
}

// Span returns the range of the file to read before data block i, or page i of the table filter, is opened. If the
// block is too long, the range is empty, and opening the block fails.
func (f *File) Span(kind Kind, i int) (start, end uint64, err error) {
	if kind == TableFilterBlock {
		h := f.Pages.place(uint64(i))
		return h.Offset, h.Offset + h.Length, nil
	}
	h, err := f.Index.Handle(i)
	if err != nil || h.Length > uint64(f.o.MaxBlockSize) {
		return h.Offset, h.Offset, err
	}
	return h.Offset, h.End(), nil
}
