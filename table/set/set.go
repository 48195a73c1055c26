package set

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/table"
)

// A Set queries many tables as if they were one. For each layer, newest first, a lookup searches the one
// table whose range contains the key. A Set is safe for concurrent use. Lookups in open tables take no
// lock. [Open], [OpenDir] and [OpenFS] return a Set.
//
// Errors name the table. They wrap the Source's error, and the next lookup tries again. If the Source
// panics, the lookup that waits for it panics too.
type Set struct {
	src     Source
	o       Options
	current atomic.Pointer[version] // nil after Close

	swapping chan struct{} // has one place, for the Swap that runs
	loads    chan struct{} // has a place for each table that may be opened at a time

	mu      sync.Mutex         // of the rest, and of what changes in the members
	members map[string]*member // by name: all tables that may be read
	closed  bool
	owned   io.Closer // closed at the end; nil if there is nothing to close

	handles map[*handle]struct{}         // all that are open
	kept    clock.Clock[handle, *handle] // those that are kept open, if MemorySize bounds them
	size    int64                        // their bytes, as they were counted last
}

// Open opens the set of m's tables, which src reads. If o is nil, the defaults are used. Open copies m.
// If ctx is done, Open returns its error.
//
// Open checks m. Unless OpenAll is set, it reads no table: each is opened by its first lookup. Opening a
// table takes one read of its tail, and compares the table's size, TailSum, entries and key range with
// the manifest. If they differ, the error wraps [ErrMismatch] and names the field. Data blocks are not
// read: see [Set.Verify].
//
// A filter that cannot be used is reported by FilterErr, and lookups go on without it. A table that has
// only a filter cannot be opened without it. If the filter's policy is missing, the error is
// [table.ErrUnknownFilter]: add the policy to Options.Reader.TableFilterPolicies.
//
// Close does not close src. The caller may close it after Close and Drain. If Open fails, nothing
// reads src any more, except that after ctx is done a last read may still run.
func Open(ctx context.Context, m *Manifest, src Source, o *Options) (*Set, error) {
	opts, err := o.withDefaults(false)
	if err != nil {
		return nil, err
	}
	if m == nil || src == nil {
		return nil, errors.New("set: there is no Manifest or no Source")
	}
	if m, err = m.checkedCopy(); err != nil {
		return nil, err
	}
	return open(ctx, m, src, opts)
}

// open opens the set of a manifest that is checked and will not change. The defaults of the options are filled in.
func open(ctx context.Context, m *Manifest, src Source, opts Options) (*Set, error) {
	s := &Set{
		src:      src,
		o:        opts,
		swapping: make(chan struct{}, 1),
		loads:    make(chan struct{}, opts.Concurrency),
		members:  map[string]*member{},
		handles:  map[*handle]struct{}{},
	}
	if err := s.change(ctx, m); err != nil {
		s.Drain(ctx) // nothing reads src any more, unless ctx is done
		return nil, err
	}
	return s, nil
}

// Manifest returns the manifest in use, or nil after Close. The caller must not modify it.
func (s *Set) Manifest() *Manifest {
	v := s.current.Load()
	if v == nil {
		return nil
	}
	return v.manifest
}

// MemorySize returns how many bytes of memory the indexes and filters of open tables take. It includes
// closed tables that an Iter, GetMany or Swap still uses.
func (s *Set) MemorySize() (size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.handles {
		size += h.reader.MemorySize()
	}
	return size
}

// FilterErr reports filters that are not used. It joins what FilterErr of [table.Reader] returned for
// each table when it was opened. Without these filters, lookups return the same results but are slower.
// After Close, FilterErr returns [table.ErrClosed].
func (s *Set) FilterErr() error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, m := range v.members {
		if m.filterErr != nil {
			errs = append(errs, m.errorf("%w", m.filterErr))
		}
	}
	return errors.Join(errs...)
}

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
	err = s.loadAll(ctx, out, true, func(_ int, h *handle, err error) error {
		if err == nil {
			h.release()
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

// Close closes the Set without waiting. Lookups that have begun still complete. Tables are closed when
// the lookups and Iters that use them have ended: Drain waits for that. After Close, lookups and a second
// Close return [table.ErrClosed]. Iters fail with it when they seek or reach another table.
func (s *Set) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return table.ErrClosed
	}
	s.closed = true
	v := s.current.Swap(nil)
	v.outdate()
	done := s.doneWith()
	s.mu.Unlock()
	v.retire()
	if done != nil { // there are no tables
		return done.Close()
	}
	return nil
}
