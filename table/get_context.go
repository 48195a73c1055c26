package table

import (
	"context"
	"errors"
	"io"
)

// A ContextReaderAt is a source whose reads can be ended by a context, such as one in an object
// store. GetContext and GetMany read it by ReadAtContext. What takes no context may use either
// method.
type ContextReaderAt interface {
	io.ReaderAt

	// ReadAtContext is ReadAt, but when ctx is done it returns an error soon. It must be safe
	// for concurrent use.
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// GetContext is Get with a read that ctx can end. If ctx is done, GetContext returns its error,
// which errors.Is finds, and it begins no read. From a [ContextReaderAt] it reads by
// ReadAtContext, and returns when that does. It waits for the ReadAt of any other source.
func (r *Reader) GetContext(ctx context.Context, key []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	i, filterChecked, err := r.locate(key)
	if err != nil {
		return nil, err
	}
	d := dataBlock{ctx: ctx}
	var value []byte
	if err = d.openForLookup(r, i); err == nil {
		value, err = d.lookup(r, key, filterChecked)
	}
	if err == nil {
		value = d.keepValue(value)
	}
	d.release()
	return value, err
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
