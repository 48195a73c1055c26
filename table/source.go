package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A ContextReaderAt is a source whose reads can be ended by a context, such as one in an object
// store. What takes a context reads it by ReadAtContext. What takes none may use either method.
type ContextReaderAt interface {
	io.ReaderAt

	// ReadAtContext is ReadAt, but when ctx is done it returns an error soon. It must be safe
	// for concurrent use.
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// readSpan returns what to read of the file before the block at h is opened. If the block is
// too long, that is nothing, and to open it is an error.
func (f *tableFile) readSpan(h Handle) (start, end uint64) {
	if h.Length > uint64(f.o.MaxBlockSize) {
		return h.Offset, h.Offset
	}
	return h.Offset, h.end()
}

// readAt fills p with the bytes at offset, unless ctx ends that. ctx may be nil. An error of the source is
// in the chain of the error. If the source ends too early, that is io.ErrUnexpectedEOF. If ctx is done when
// the read ends, the error is ctx's.
func (f *tableFile) readAt(ctx context.Context, kind BlockKind, p []byte, offset uint64) error {
	if ctx == nil {
		n, err := f.src.ReadAt(p, int64(offset))
		return f.endRead(kind, p, offset, n, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := 0, error(nil)
	if src, ok := f.src.(ContextReaderAt); ok {
		n, err = src.ReadAtContext(ctx, p, int64(offset))
	} else {
		n, err = f.src.ReadAt(p, int64(offset))
	}
	err = f.endRead(kind, p, offset, n, err)
	done := ctx.Err()
	switch {
	case done == nil || errors.Is(err, done):
		return err
	case err == nil:
		return done
	}
	return errors.Join(done, err)
}

// endRead returns the error of a read that was to fill p, and of which the source returned n
// and err.
func (f *tableFile) endRead(kind BlockKind, p []byte, offset uint64, n int, err error) error {
	end := err == nil || err == io.EOF // a wrapped EOF can be that of a connection
	if n == len(p) && end {
		return nil
	}
	if f.closed.Load() {
		return ErrClosed
	}
	if end {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("table: reading %s at %d: %w", kind, offset, err)
}

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

// A tailReader reads a file, and has the end of it in memory.
type tailReader struct {
	io.ReaderAt
	offset int64 // of tail in the file
	tail   []byte
}

// A fileTail is the end of a file. Most tables of up to smallFile bytes have their index and their filters
// there. Those of a larger one would not fit, and to read them at once saves little.
type fileTail [8 << 10]byte

const smallFile = 256 << 10

var fileTails = sync.Pool{New: func() any { return new(fileTail) }}

// readTail reads the last bytes of r, which has size bytes, into memory, and returns a source that has
// them there. If the read fails it returns r: the parts of the file are then read one
// by one, and an error is about the part that cannot be read.
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

// A readAhead reads several data blocks at once, for moves from block to block and for
// batches of lookups.
type readAhead struct {
	size   int    // bytes to read at once; 0: each block is read by itself
	bytes  []byte // that were read
	offset uint64 // of bytes in the file
}

// prepareAhead reads data block i and the blocks behind it, up to before block end, unless
// block i is there. If the read fails, it reads nothing ahead any more: the blocks are then
// read one by one, so that an error is about the block that cannot be read.
func (b *buffers) prepareAhead(t *openTable, i, end int) {
	a := &b.ahead
	if a.size == 0 || t.slices != nil {
		return
	}
	h, err := t.index.handle(i)
	if err != nil || a.has(h.Offset, h.end()) {
		return
	}
	to := h.Offset
	for ; i < end; i++ {
		next, err := t.index.handle(i)
		if err != nil || next.Offset != to || next.end()-h.Offset > uint64(a.size) || next.Length > uint64(t.o.MaxBlockSize) {
			break
		}
		to = next.end()
	}
	if to <= h.end() {
		return // only block i
	}
	if a.fill(b.ctx, t, h.Offset, to) != nil {
		a.size = 0
	}
}

// fill reads the bytes of the file from start to end, unless ctx ends that. After an error it
// has none.
func (a *readAhead) fill(ctx context.Context, t *openTable, start, end uint64) error {
	n := int(end - start)
	if n == 0 {
		return nil
	}
	into := extend(a.bytes[:0], n)[:n]
	a.bytes, a.offset = nil, start // should the source panic
	if err := t.readAt(ctx, DataBlock, into, start); err != nil {
		return err
	}
	a.bytes = into
	return nil
}

// has reports whether it has the bytes of the file from start to end.
func (a *readAhead) has(start, end uint64) bool {
	return start >= a.offset && end <= a.offset+uint64(len(a.bytes))
}

// read fills p with the bytes of the file at offset, and reports whether it has them.
func (a *readAhead) read(p []byte, offset uint64) bool {
	if len(a.bytes) == 0 || !a.has(offset, offset+uint64(len(p))) {
		return false
	}
	copy(p, a.bytes[offset-a.offset:])
	return true
}
