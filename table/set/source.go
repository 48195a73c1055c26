package set

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/table"
)

// A Source reads the tables of a [Set] by name. It must be safe for concurrent use. If it is a [Forgetter], each Set
// needs its own.
type Source interface {
	// ReadAt reads len(p) bytes of the table name at offset off, like io.ReaderAt: it returns an error if n < len(p),
	// and io.EOF at the table's end. When ctx is done, it soon returns an error. If the table is missing, the error is
	// fs.ErrNotExist. If the name denotes another file or object than when the table was opened, ReadAt must return
	// ErrReplaced, or lookups can return wrong values.
	ReadAt(ctx context.Context, name string, p []byte, off int64) (n int, err error)
}

// A Mapper is a Source that can map tables into memory: see Reader of [Options].
type Mapper interface {
	// Map returns the mapped table name and its size, for [table.NewReader]. The mapping lasts as long as it is in use,
	// even after Forget. If src is nil, the Set uses ReadAt. When ctx is done, Map soon returns an error.
	Map(ctx context.Context, name string) (src io.ReaderAt, size int64, err error)
}

// A Forgetter is a Source that keeps state for each table, such as an open file. A [Set] calls Forget when it no
// longer reads the table, and after [ErrReplaced]. Reads may still run. Forget must not panic.
type Forgetter interface {
	Forget(name string)
}

// read reads len(p) bytes of the table.
func (h *handle) read(ctx context.Context, p []byte, off int64) (n int, err error) {
	err = h.call(ctx, func(ctx context.Context) (err error) {
		n, err = h.s.src.ReadAt(ctx, h.Name, p, off)
		return err
	})
	switch {
	case n < 0 || n > len(p):
		return 0, errors.Join(fmt.Errorf("the Source returned n = %d for a read of %d bytes", n, len(p)), err)
	case errors.Is(err, ErrReplaced):
		return 0, err
	case n < len(p) && err == nil:
		return n, errors.New("the Source read too few bytes and returned no error")
	}
	return n, err
}

// call calls the Source for the table, unless the member has ended.
func (h *handle) call(ctx context.Context, read func(context.Context) error) error {
	if !h.refs.Acquire() {
		return table.ErrClosed
	}
	defer h.unref()
	err := h.s.callSource(ctx, read)
	replaced := errors.Is(err, ErrReplaced)
	if replaced {
		h.forget()
	}
	if replaced || h.epoch == h.replaced.Load() {
		return err
	}
	return errors.Join(err, ErrReplaced)
}

// callSource calls the Source with a context that ends after ReadTimeout.
func (s *Set) callSource(ctx context.Context, call func(context.Context) error) error {
	limit := s.o.ReadTimeout
	if limit == 0 {
		return call(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(limited)
	if err == nil || err == io.EOF || ctx.Err() != nil || limited.Err() == nil {
		return err
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return fmt.Errorf("the Source did not finish within ReadTimeout, %v: %w", limit, err)
}

// forget makes the Source forget the table. When it is opened again, identify compares it.
func (h *handle) forget() {
	source, ok := h.s.src.(Forgetter)
	if !ok || !h.replaced.CompareAndSwap(h.epoch, h.epoch+1) {
		return
	}
	defer h.replaced.Add(1) // a handle opened before Forget returns may read another table
	source.Forget(h.Name)
}
