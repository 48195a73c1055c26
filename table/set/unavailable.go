package set

import (
	"context"
	"errors"
	"iter"

	"github.com/sievetable/sievetable/table"
)

// Unavailable returns the tables of the manifest in use that have no answers now, and why: those
// whose last opening failed, or whose last read did. They are in the order of the Manifest's All. A
// table that was not opened or read since the store failed is not among them. That a lookup's
// context was done is no failure, and that ReadTimeout was over is one.
//
// It reads nothing: the next lookup that needs such a table tries again, and so does Reopen. The
// caller must not change the slices of the Tables. After Close there is one iteration, with
// [table.ErrClosed] only.
func (s *Set) Unavailable() iter.Seq2[Table, error] {
	return func(yield func(Table, error) bool) {
		v, err := s.acquire()
		if err != nil {
			yield(Table{}, err)
			return
		}
		defer v.release()
		for i, m := range v.members {
			if err := m.failed.Load(); err != nil && !yield(*v.tables[i], *err) {
				return
			}
		}
	}
}

// Reopen opens the tables of Unavailable again, as many at a time as the Set's Concurrency says. It
// returns the errors of those that cannot be opened, joined as by errors.Join, and nil if none is
// out any more. Lookups go on meanwhile. If ctx is done, Reopen returns its error. After Close it
// returns [table.ErrClosed].
//
// Call it now and then in a service that takes no requests while tables are out: no lookup would
// find that they are back.
func (s *Set) Reopen(ctx context.Context) error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	var out []*member
	for _, m := range v.members {
		if m.failed.Load() != nil {
			out = append(out, m)
		}
	}
	var failed []error
	err = s.loadAll(ctx, out, (*member).requestAgain, func(_ int, r *resident, err error) error {
		if err == nil {
			r.release()
			return nil
		}
		failed = append(failed, err)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if s.current.Load() == nil {
		return table.ErrClosed
	}
	return errors.Join(failed...)
}
