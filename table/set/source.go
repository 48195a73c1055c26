package set

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/table"
)

// A Source reads the tables of one [Set] by name. [NewDir] returns a Source for a directory, and the
// module table/cloud has one for object storage. A Source must be safe for concurrent use.
//
// If a Source is also a [Forgetter], each Set needs a Source of its own.
type Source interface {
	// ReadAt reads len(p) bytes of the table name, starting at off. It returns what io.ReaderAt.ReadAt
	// returns: an error if n < len(p), and io.EOF at the table's end. When ctx is done, it soon returns
	// an error.
	ReadAt(ctx context.Context, name string, p []byte, off int64) (n int, err error)
}

// A Mapper is a Source that can map its tables into memory, as a [Dir] can. A [Set] calls Map if Mapped
// of Options.Reader is set.
type Mapper interface {
	// Map returns the mapped table name and its size. src is for [table.NewReader]: it is, for example,
	// a [table.SliceReaderAt]. It stays usable as long as something uses it, even after Forget. If src
	// is nil, the Set reads the table with ReadAt. When ctx is done, Map soon returns an error.
	Map(ctx context.Context, name string) (src io.ReaderAt, size int64, err error)
}

// A Forgetter is a Source that keeps state for each table, such as an open file. A [Set] calls Forget
// when it no longer reads the table, and after [ErrReplaced]. Reads of the table may be running then, whose
// results the Set discards. Forget must not panic: a goroutine of the Set may call it, where no program can
// recover.
type Forgetter interface {
	Forget(name string)
}

// ErrReplaced is wrapped by a Source's error if a table's name now denotes another file or object than
// in earlier reads. If the Source is a [Forgetter], and the manifest has the table's TailSum, the Set calls
// Forget, and the next lookup opens the table again. If it is the same table, such as an object that was
// written again, lookups go on. If not, they fail until the right table is back.
//
// A table without a digest of its data blocks cannot be identified, so its lookups keep failing with
// ErrReplaced. So do Iters that were in the table.
var ErrReplaced = errors.New(
	"the table was replaced since it was opened: try again, or open the set again with its present manifest")

// read reads len(p) bytes of the table.
func (h *handle) read(ctx context.Context, p []byte, off int64) (n int, err error) {
	err = h.ask(ctx, func(ctx context.Context) (err error) {
		n, err = h.s.src.ReadAt(ctx, h.Name, p, off)
		return err
	})
	switch {
	case n < 0 || n > len(p):
		return 0, errors.Join(errors.New(
			"the Source says that it has read more bytes than it was asked for, or fewer than none"), err)
	case errors.Is(err, ErrReplaced):
		return 0, err
	case n < len(p) && err == nil:
		return n, errors.New("the Source has read too few bytes and returned no error")
	}
	return n, err
}

// ask asks the Source for the table, by a call of it. After the table has ended it asks nothing.
func (h *handle) ask(ctx context.Context, call func(context.Context) error) error {
	if !h.refs.Acquire() {
		return table.ErrClosed
	}
	defer h.unref()
	err := h.s.callSource(ctx, call)
	replaced := errors.Is(err, ErrReplaced)
	if replaced {
		h.forget()
	}
	if replaced || h.epoch == h.replaced.Load() {
		return err
	}
	return errors.Join(err, ErrReplaced)
}

// callSource makes a call of the Source, whose context is done after ReadTimeout.
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
	return fmt.Errorf("the Source had no answer within ReadTimeout, %v: %w", limit, err)
}

// forget lets the Source forget the table, if the manifest tells whether it is the same when it is
// opened again.
func (h *handle) forget() {
	source, ok := h.s.src.(Forgetter)
	if !ok || h.TailSum == "" || !h.replaced.CompareAndSwap(h.epoch, h.epoch+1) {
		return
	}
	defer h.replaced.Add(1) // what was opened before Forget returns may be of another table
	source.Forget(h.Name)
}
