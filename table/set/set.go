package set

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/table"
)

// A Set looks up keys in many tables, and iterates over them. It looks a key up in the only table
// whose range has it, or in one of each layer until the key is found. It is safe for concurrent
// use, and lookups in open tables take no lock. [Open], [OpenDir] and [OpenFS] return one.
//
// Errors of a table name it. An error of the Source is in the chain of the error, so that errors.Is
// finds it, and the next lookup tries again. If the Source panics, so does the lookup that waits
// for it.
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

	readers map[*resident]struct{} // all that are not closed
	kept    clock.Clock[resident, *resident]
	size    int64 // bytes of those that are kept, as they were counted last. MemorySize bounds it
}

// Open returns a Set of the tables of m, which src has. If o is nil, all options are the defaults.
// Open copies m. When ctx is done, Open returns its error.
//
// Open checks m, and reads no table unless OpenAll is set. Opening a table takes one read, of its
// last TailSize bytes and one more, which must be missing: so the size is known. It compares size,
// TailSum, entries (if the table has properties) and the range of keys with the size, the index and
// the filters of the table. A difference is an error that names the field: see [ErrMismatch].
// Opening a table reads no data blocks: Verify does.
//
// A filter that cannot be used is no error: FilterErr returns it. But a table that has nothing but
// the filter cannot be opened. If no policy has the filter's name, the error is
// [table.ErrUnknownFilter]: add the policy to Options.Reader.TableFilterPolicies.
//
// Close does not close src: the caller may do that after Close and then Drain. After an error of
// Open, nothing reads src any more, unless ctx is done: then a read that has begun may still be
// under way.
func Open(ctx context.Context, m *Manifest, src Source, o *Options) (*Set, error) {
	opts, err := o.withDefaults(false)
	if err != nil {
		return nil, err
	}
	if m == nil || src == nil {
		return nil, errors.New("set: there is no Manifest or no Source")
	}
	return open(ctx, m, src, opts)
}

// open is Open with options whose defaults are filled in.
func open(ctx context.Context, m *Manifest, src Source, opts Options) (*Set, error) {
	s := &Set{
		src:      src,
		o:        opts,
		swapping: make(chan struct{}, 1),
		loads:    make(chan struct{}, opts.Concurrency),
		members:  map[string]*member{},
		readers:  map[*resident]struct{}{},
	}
	if err := s.change(ctx, m); err != nil {
		s.Drain(ctx) // nothing reads src any more, unless ctx is done
		return nil, err
	}
	return s, nil
}

// Manifest returns the manifest in use, or nil after Close. The caller must not change it.
func (s *Set) Manifest() *Manifest {
	v := s.current.Load()
	if v == nil {
		return nil
	}
	return v.manifest
}

// MemorySize returns how many bytes of memory the indexes and filters of open tables take. It also
// counts tables that are closed and still in use.
func (s *Set) MemorySize() (size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.readers {
		size += r.reader.MemorySize()
	}
	return size
}

// FilterErr returns why filters of tables are not in use: the joined errors of FilterErr of the
// tables' Readers. It covers the tables that were opened, as they were then. Without these filters,
// lookups have the same results and are slower. After Close it returns [table.ErrClosed].
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

// Close closes the Set and does not wait. Lookups that are under way still get their answers.
// Tables are closed when the lookups and Iters that use them have ended: Drain waits for that.
// After Close, lookups and a second Close return [table.ErrClosed], and Iters fail with it when
// they seek or come to another table.
func (s *Set) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return table.ErrClosed
	}
	s.closed = true
	v := s.current.Swap(nil)
	s.outdate(v)
	done := s.doneWith()
	s.mu.Unlock()
	v.retire()
	if done != nil { // there are no tables
		return done.Close()
	}
	return nil
}
