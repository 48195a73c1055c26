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

// A Set queries many tables as if they were one. It is safe for concurrent use, and lookups in open tables take no
// lock. Errors name the table and wrap the Source's error. If the Source panics, the lookup panics too.
type Set struct {
	src     Source
	o       Options
	current atomic.Pointer[version] // nil after Close

	swapping chan struct{} // holds a token while a Swap runs
	loads    chan struct{} // holds a token for each table that is being opened

	mu      sync.Mutex         // guards the fields below, and some of each member
	members map[string]*member // by name: all tables that may be read
	closed  bool
	owned   io.Closer // closed at the end; nil if there is nothing to close

	handles map[*handle]struct{}         // all open handles
	kept    clock.Clock[handle, *handle] // the handles that are kept open, if MemorySize is set
	size    int64                        // their size in bytes, as last counted
}

// Open opens the set of m's tables, which it reads from src. If o is nil, the defaults are used. Open copies m. The
// caller may close src after Close and Drain, or after Open has failed, unless ctx is done: a last read may then
// still run.
//
// Unless OpenAll is set, each table is opened by its first lookup. Opening reads the table's tail, and compares size,
// TailSum, entries and key range with the manifest: see [ErrMismatch]. A filter that cannot be used is reported by
// FilterErr. In a table with only a filter, it is an error.
func Open(ctx context.Context, m *Manifest, src Source, o *Options) (*Set, error) {
	opts, err := o.withDefaults(false)
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, errors.New("set: nil Source")
	}
	if m, err = m.checkedCopy(); err != nil {
		return nil, err
	}
	return open(ctx, m, src, opts)
}

// open is Open for a checked manifest, which must not change, and options with defaults filled in.
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

// Manifest returns the manifest in use, which is read-only, or nil after Close.
func (s *Set) Manifest() *Manifest {
	v := s.current.Load()
	if v == nil {
		return nil
	}
	return v.manifest
}

// MemorySize returns the memory of the indexes and filters in use, in bytes. Lookups add search trees: see
// [table.Reader.MemorySize].
func (s *Set) MemorySize() (size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.handles {
		size += h.reader.MemorySize()
	}
	return size
}

// FilterErr returns the errors of open tables' filters that are not used.
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
		errs = append(errs, m.filterErr) // or nil
	}
	return errors.Join(errs...)
}

// Unavailable returns the tables whose last opening or read failed, with the error. It reads nothing. A mapped table
// that could not be read, or is corrupt, stays among them until it is opened again. In other tables, a corrupt data
// block does not count as a failure: see Verify. ReadTimeout counts, a timeout of a lookup's context does not. The
// caller must not modify the slices. After Close, there is one iteration, with [table.ErrClosed].
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

// Reopen opens the tables of Unavailable again, while lookups go on, and returns the joined errors. Call it in a
// health check: if no lookups arrive, nothing else notices that tables are back.
func (s *Set) Reopen(ctx context.Context) error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	var out []*member
	for _, m := range v.members {
		if m.failed.Load() != nil {
			closeFile(s.src, m.Name) // another file may have the name by now
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

// Close closes the Set without waiting for lookups: see Drain. Later lookups and a second Close return
// [table.ErrClosed]. So do Iters that seek or reach another table.
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
	if done != nil { // no tables are left
		return done.Close()
	}
	return nil
}
