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

// GetContext is Get with a read that ctx can end: With(LookupOptions{Context: ctx}).Get.
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

// readAtContext does what readAt does, and ends with ctx if the source can. If ctx is done when
// the read ends, it returns ctx's error. ctx may be nil.
func (f *tableFile) readAtContext(ctx context.Context, kind BlockKind, p []byte, offset uint64) error {
	if ctx == nil {
		return f.readAt(kind, p, offset)
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
