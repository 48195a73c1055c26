package set

import (
	"context"
	"errors"
	"io/fs"
	"iter"

	"github.com/sievetable/sievetable/table"
)

// Unavailable returns the tables of the manifest in use whose last opening or read failed, with the
// error, in the order of the Manifest's All. It reads nothing, so it does not notice tables that
// were not used since the store failed. A lookup that ended because its context was done does not count as
// a failure. One that ended because of ReadTimeout does.
//
// The next lookup that needs such a table tries again, and so does Reopen. The caller must not modify the
// slices of the Tables. After Close, there is one iteration, with [table.ErrClosed].
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

// Reopen opens the tables of Unavailable again, up to the Set's Concurrency at a time. It returns the joined
// errors of those that cannot be opened, or nil. Lookups go on meanwhile. If ctx is done, Reopen returns
// its error. After Close, it returns [table.ErrClosed].
//
// A service that takes no requests while tables are unavailable must call it now and then: without
// lookups, nothing else would notice that they are back.
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

// loss returns the Loss of a table that cannot be opened.
func (v *version) loss(m *member, err error) table.Loss {
	return table.Loss{File: m.Name, Offset: -1, From: m.Smallest, To: m.Largest, OlderShow: len(v.layers) > 1, Err: err}
}

// onLoss returns what calls onLoss for the data blocks of tables. nil stays nil.
func (v *version) onLoss(onLoss func(table.Loss) bool) func(table.Loss) bool {
	if onLoss == nil || len(v.layers) == 1 {
		return onLoss
	}
	return func(l table.Loss) bool {
		l.OlderShow = true
		return onLoss(l)
	}
}

// isLost reports whether a table is missing, corrupt or another one. A store that fails has lost nothing.
func isLost(err error) bool {
	return errors.Is(err, table.ErrCorrupt) || errors.Is(err, ErrMismatch) || errors.Is(err, fs.ErrNotExist)
}

// hidden returns the error for a key whose newest version can be in a layer that cannot be read. If a table of it is
// lost, older layers are asked for an older version.
func (l layers) hidden(ctx context.Context, key []byte, err error) error {
	if !isLost(err) {
		return err
	}
	h := &table.HiddenError{Err: err}
	switch older, olderErr := l.get(ctx, key); {
	case olderErr == nil:
		h.Value, h.Found = older, true
	case ctx.Err() != nil:
		return olderErr
	case olderErr != table.ErrNotFound:
		h.Err = errors.Join(err, olderErr)
	}
	return h
}
