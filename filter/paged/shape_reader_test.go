package paged_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/sievetable/sievetable/filter/paged"
)

// A shapeReader looks up keys by a Shape in a filter that is not in memory, as a program does that reads pages itself.
type shapeReader struct {
	paged.Shape
	src io.ReaderAt
}

// A contextReader is a source whose reads a context can end.
type contextReader interface {
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// newShapeReader reads the trailer of the filter that src has in its first size bytes.
func newShapeReader(ctx context.Context, src io.ReaderAt, size int64) (*shapeReader, error) {
	r := &shapeReader{src: src}
	tail := make([]byte, paged.TrailerSize)
	if size >= paged.PageSize+paged.TrailerSize {
		if err := r.read(ctx, tail, size-paged.TrailerSize); err != nil {
			return nil, fmt.Errorf("paged: reading the trailer at %d: %w", size-paged.TrailerSize, err)
		}
	}
	var err error
	if r.Shape, err = paged.ReadShape(tail, uint64(max(size, 0))); err != nil {
		return nil, err
	}
	return r, nil
}

// pagePool has memory for pages.
var pagePool = sync.Pool{New: func() any { return new([paged.PageSize]byte) }}

// Contains reports whether the filter may contain key. If it returns false and no error, the filter was
// built without key. Errors are those of the source, of ctx, and an ErrCorrupt for a corrupt page.
func (r *shapeReader) Contains(ctx context.Context, key []byte) (bool, error) {
	page := pagePool.Get().(*[paged.PageSize]byte)
	defer pagePool.Put(page)
	h := r.Hash(key)
	n := r.Page(h)
	if err := r.read(ctx, page[:], int64(n*paged.PageSize)); err != nil {
		return false, fmt.Errorf("paged: reading page %d at %d: %w", n, n*paged.PageSize, err)
	}
	if err := r.CheckPage(page[:], n); err != nil {
		return false, err
	}
	return r.InPage(page[:], h), nil
}

// read fills p with the bytes at off. If ctx is done by then, that is its error.
func (r *shapeReader) read(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	read := r.src.ReadAt
	if src, ok := r.src.(contextReader); ok {
		read = func(p []byte, off int64) (int, error) { return src.ReadAtContext(ctx, p, off) }
	}
	n, err := read(p, off)
	done := ctx.Err()
	switch {
	case n == len(p) && (err == nil || err == io.EOF):
		return done
	case err == nil || err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	if done != nil && !errors.Is(err, done) {
		return errors.Join(done, err)
	}
	return err
}
