package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxReadSize is the most bytes of a single read that covers several blocks, whatever the options say.
const MaxReadSize = 1 << 30

// A ContextReader is a source whose reads a context can end: see table.NewReader.
type ContextReader interface {
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// A Slicer is a source that hands out its bytes: see table.NewReader.
type Slicer interface {
	io.ReaderAt
	Slice(off int64, n int) ([]byte, error)
}

// noContext is nil: nothing ends the read.
var noContext context.Context

// read fills p with the bytes at offset, unless ctx, which may be nil, ends that. The error wraps the source's and, if ctx
// is done, the error of ctx.
func (f *File) read(ctx context.Context, kind Kind, p []byte, offset uint64) error {
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

// readError returns the error of a read that failed, or that the source ended too early: that is
// io.ErrUnexpectedEOF. A wrapped EOF can be that of a connection.
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

// Bytes are a file in memory.
type Bytes []byte

// ReadAt reads as io.ReaderAt says.
func (b Bytes) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("table: offset %d (minimum 0)", off)
	}
	n := copy(p, b[min(off, int64(len(b))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Slice returns the n bytes at off. If b is too short, the error is io.ErrUnexpectedEOF.
func (b Bytes) Slice(off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(b)) || int64(n) > int64(len(b))-off {
		return nil, io.ErrUnexpectedEOF
	}
	return b[off : off+int64(n) : off+int64(n)], nil
}

// A tailReader reads a file, and has the end of it in memory.
type tailReader struct {
	io.ReaderAt
	offset int64 // of tail in the file
	tail   []byte
}

// A fileTail is the end of a file. Most tables of up to SmallFile bytes have their index and their filters there.
// Those of a larger one would not fit, and to read them at once saves little.
type fileTail [8 << 10]byte

// SmallFile is up to how many bytes of a file WithTail is for.
const SmallFile = 256 << 10

var fileTails = sync.Pool{New: func() any { return new(fileTail) }}

// WithTail calls f with a source that has the end of r, which has size bytes, in memory until f returns.
func WithTail(r io.ReaderAt, size int64, f func(io.ReaderAt) error) error {
	tail := fileTails.Get().(*fileTail)
	defer fileTails.Put(tail)
	return f(readTail(r, size, tail[:]))
}

// readTail reads the last bytes of r, which has size bytes, into memory, and returns a source that has them there. If
// the read fails it returns r: the parts of the file are then read one by one, and an error is about the part that
// cannot be read.
func readTail(r io.ReaderAt, size int64, memory []byte) io.ReaderAt {
	t := tailReader{ReaderAt: r, tail: memory[:min(int64(len(memory)), size)]}
	t.offset = size - int64(len(t.tail))
	if got, err := r.ReadAt(t.tail, t.offset); got != len(t.tail) || err != nil && err != io.EOF {
		return r
	}
	return t
}

// ReadAt reads from tail, or from the file if not all of p is in tail.
func (t tailReader) ReadAt(p []byte, off int64) (int, error) {
	if off < t.offset || int64(len(p)) > t.offset+int64(len(t.tail))-off {
		return t.ReaderAt.ReadAt(p, off)
	}
	return copy(p, t.tail[off-t.offset:]), nil
}

// An Ahead reads several data blocks at once, for moves from block to block and for batches of lookups.
type Ahead struct {
	size   int    // bytes to read at once; 0: each block is read by itself
	bytes  []byte // that were read
	offset uint64 // of bytes in the file
}

// Fill reads the bytes of the file from start to end, unless ctx ends that. After an error it has none.
func (a *Ahead) Fill(ctx context.Context, f *File, kind Kind, start, end uint64) error {
	n := int(end - start)
	if n == 0 {
		return nil
	}
	into, err := sized(a.bytes, n)
	a.bytes, a.offset = nil, start // should the source panic
	if err != nil {
		return err
	}
	if err := f.read(ctx, kind, into, start); err != nil {
		return err
	}
	a.bytes = into
	return nil
}

// has reports whether it has the bytes of the file from start to end.
func (a *Ahead) has(start, end uint64) bool {
	return start >= a.offset && end <= a.offset+uint64(len(a.bytes))
}

// ReadAhead reads data block i and the blocks behind it, up to before block end and the bytes that SetAhead has
// set, unless block i is there. If the read fails, it reads nothing ahead any more: the blocks are then read one by
// one, so that an error is about the block that cannot be read.
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

// Span returns what to read of the file before data block i is opened, or page i of the table filter. If the block is
// too long, that is nothing, and to open it is an error.
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
