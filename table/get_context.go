package table

import (
	"context"
	"errors"
	"io"
)

// A ContextReaderAt is a source whose reads can be ended by a context, such as one in an object
// store. What takes a context reads it by ReadAtContext. What takes none may use either method.
type ContextReaderAt interface {
	io.ReaderAt

	// ReadAtContext is ReadAt, but when ctx is done it returns an error soon. It must be safe
	// for concurrent use.
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// GetContext is Get with a read that ctx can end: see [LookupOptions].
func (r *Reader) GetContext(ctx context.Context, key []byte) ([]byte, error) {
	return r.get(&LookupOptions{Context: ctx}, key, nil)
}

// readSpan returns what to read of the file before the block at h is opened. If the block is
// too long, that is nothing, and to open it is an error.
func (f *tableFile) readSpan(h Handle) (start, end uint64) {
	if h.Length > uint64(f.maxBlockSize) {
		return h.Offset, h.Offset
	}
	return h.Offset, h.end()
}

// readAtContext does what readAt does, and ends with ctx if the source can. ctx may be nil.
func (f *tableFile) readAtContext(ctx context.Context, kind BlockKind, p []byte, offset uint64) error {
	if ctx == nil {
		return f.readAt(kind, p, offset)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	src, ok := f.src.(ContextReaderAt)
	if !ok {
		return f.readAt(kind, p, offset)
	}
	n, err := src.ReadAtContext(ctx, p, int64(offset))
	err = f.endRead(kind, p, offset, n, err)
	if done := ctx.Err(); err != nil && done != nil && !errors.Is(err, done) {
		err = errors.Join(done, err)
	}
	return err
}
