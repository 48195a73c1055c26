package set

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/table"
)

// A Set looks up keys in many tables, and iterates over them. A key is looked up in the only
// table whose range has it. It is safe for concurrent use, and lookups in tables that are open
// take no lock. [Open] and [OpenDir] return one.
//
// Errors of a table name it. An error of the Source is in the chain of the error, so that
// errors.Is finds it, and the next lookup tries again. If the Source panics, so does the lookup
// that waits for it.
type Set struct {
	src     Source
	o       Options
	current atomic.Pointer[version] // nil after Close
	memory  memory

	swapping chan struct{} // has one place, for who swaps
	opens    chan struct{} // has a place for each table that may be opened at a time

	mu      sync.Mutex
	members map[string]*member // by name: all tables that may be read
	closed  bool
	owned   io.Closer // closed at the end; nil if there is nothing to close
}

// Options are options of a Set. The zero value of each field is its default. A value out of
// range is an error of Open and OpenDir.
type Options struct {
	// Reader has the options of the tables. A Cache keeps the blocks of a table also while it
	// is closed because of MemorySize. Tables with filters of other kinds than Bloom filters
	// want their policies here. With Mapped, a Set takes the bytes of tables from a Source that is a
	// Mapper, as OpenDir's is: filters and indexes are then in the system's page cache, and no file stays
	// open. Opening a table reads them once, to check them. A lookup reads what it touches. Of very
	// many tables, those that come last are read, as [table.ReaderOptions].Mapped says.
	//
	// It is an error to set Name, CacheKey, TailSum or TailSize, since the Set knows them of each
	// table, and to set Comparer or FilterKey, since keys are in the bytewise order.
	Reader table.ReaderOptions

	// OpenAll makes Open and Swap open each new table, so that what is wrong with one is an error
	// there. By default each is opened at its first lookup, which returns the error.
	OpenAll bool

	// MemorySize is how many bytes of memory the open tables may take: their indexes and filters, and
	// what lookups have built to search them. Bytes that are mapped do not count. The Set closes some
	// that were not used for a while, most often the one that was opened last if it was not asked for
	// again, and opens them again when they are asked for. Tables that are in use while they are
	// closed come on top of that. If one table takes more, it is open only while it is in use. With
	// OpenAll, Open and Swap still open every new table once. 0: no bound.
	//
	// To open a table again, all of its filters and its index are read and checked: for 100 KB that
	// takes some hundred times as long as a lookup. So a MemorySize of 95 % of what the tables take
	// makes lookups in random tables about 20 times slower. A mapped table counts as about 1 KB,
	// and its index if that is compressed, until many lookups have built a search tree of the
	// index.
	MemorySize int64

	// MaxOpenFiles is how many files of tables a Set of OpenDir may have open, 1 to 1048576. It
	// closes some that were not read for a while, and opens them again when they are read, which takes
	// some microseconds more. If all are being read, a read waits for one to end. 0: a quarter of the
	// open files that the system allows the process, or 4096 on Windows. For Open it must be 0: that
	// opens no files, its Source does.
	MaxOpenFiles int

	// Concurrency is how many tables may be opened at a time, 1 to 1024. Each takes the
	// memory of its Table.TailSize until it is open. 0: 16.
	Concurrency int
}

const (
	defaultConcurrency = 16
	maxConcurrency     = 1024
	maxOpenFiles       = 1 << 20
)

// Why options of Readers must be unset.
const (
	setsItself   = "the Set gives each table its own"
	bytewiseOnly = "keys of a set are in the bytewise order, and filters have whole keys"
)

// withDefaults returns a copy with defaults filled in.
func (o *Options) withDefaults() (Options, error) {
	var s Options
	if o != nil {
		s = *o
	}
	r := &s.Reader
	for _, option := range []struct {
		name string
		set  bool
		why  string
	}{
		{"Name", r.Name != "", setsItself},
		{"CacheKey", r.CacheKey != "", setsItself},
		{"TailSum", r.TailSum != [sha256.Size]byte{}, setsItself},
		{"TailSize", r.TailSize != 0, setsItself},
		{"Comparer", r.Comparer != nil, bytewiseOnly},
		{"FilterKey", r.FilterKey != nil, bytewiseOnly},
	} {
		if option.set {
			return s, fmt.Errorf("set: Reader.%s is set, want it unset: %s", option.name, option.why)
		}
	}
	if s.MaxOpenFiles != 0 {
		return s, errors.New("set: MaxOpenFiles is set, want it unset: Open opens no files, and OpenDir does")
	}
	if s.MemorySize < 0 {
		return s, fmt.Errorf("set: MemorySize is %d, want 0 or more", s.MemorySize)
	}
	if s.Concurrency < 0 || s.Concurrency > maxConcurrency {
		return s, fmt.Errorf("set: Concurrency is %d, want 0 to %d", s.Concurrency, maxConcurrency)
	}
	if s.Concurrency == 0 {
		s.Concurrency = defaultConcurrency
	}
	// A file without bytes is damaged, but only if the options are good.
	if _, err := table.NewReader(bytes.NewReader(nil), 0, r); !errors.Is(err, table.ErrCorrupt) {
		return s, err
	}
	return s, nil
}

// Open returns a Set of the tables of m, which src has. If o is nil, all options are the
// defaults. Open copies m. Close does not close src: the caller may do that after Close and then
// Drain. After an error of Open nothing reads src either, unless ctx is done: then a read that has
// begun may still be under way.
//
// Open checks m, and reads no table unless OpenAll is set. Opening a table takes one read, of its last
// TailSize bytes and one more: that there is none shows that the table has its size. It compares size,
// TailSum, entries (if the table has properties) and the range of keys with the size, the index and
// the filters of the table. A difference is an error that names the field: see [ErrMismatch]. No
// opening reads data blocks: Verify does.
//
// A filter that cannot be used is no error of an opening, and FilterErr tells it, unless the table has
// nothing else. If no policy has its name, the error says so: add the policy to
// Options.Reader.TableFilterPolicies.
//
// ctx is for the reads of Open. When it is done, Open returns its error.
func Open(ctx context.Context, m *Manifest, src Source, o *Options) (*Set, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if m == nil || src == nil {
		return nil, errors.New("set: there is no Manifest or no Source")
	}
	s := &Set{
		src:      src,
		o:        opts,
		memory:   memory{bound: opts.MemorySize, live: map[*opened]struct{}{}},
		swapping: make(chan struct{}, 1),
		opens:    make(chan struct{}, opts.Concurrency),
		members:  map[string]*member{},
	}
	v, err := s.prepare(ctx, m)
	if err != nil {
		s.Drain(ctx) // nothing reads src any more, unless ctx is done
		return nil, err
	}
	s.publish(v)
	return s, nil
}

// OpenDir opens the set in the directory path: the tables of its manifest, the file
// [ManifestName]. It does what Open does with a [Dir] of that directory. After Close, the files
// are closed when the lookups and Iters that use them have ended.
func OpenDir(ctx context.Context, path string, o *Options) (s *Set, err error) {
	d, o, err := o.dir(path)
	if err != nil {
		return nil, err
	}
	m, err := d.ReadManifest()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	opened := false
	defer func() { // also if a policy or a codec panics
		if !opened {
			err = errors.Join(err, d.Close())
		}
	}()
	if s, err = Open(ctx, m, d, o); err != nil {
		return nil, err
	}
	s.owned, opened = d, true
	return s, nil
}

// dir returns the Dir for OpenDir, and the options for Open.
func (o *Options) dir(path string) (*Dir, *Options, error) {
	if o == nil || o.MaxOpenFiles == 0 {
		return NewDir(path), o, nil
	}
	if o.MaxOpenFiles < 0 || o.MaxOpenFiles > maxOpenFiles {
		return nil, nil, fmt.Errorf("set: MaxOpenFiles is %d, want 0 to %d", o.MaxOpenFiles, maxOpenFiles)
	}
	opts := *o
	opts.MaxOpenFiles = 0
	return newDir(path, o.MaxOpenFiles), &opts, nil
}

// Manifest returns the manifest in use, or nil after Close. The caller must not change it.
func (s *Set) Manifest() *Manifest {
	v := s.current.Load()
	if v == nil {
		return nil
	}
	return v.manifest
}

// MemorySize returns how many bytes of memory the indexes and filters of open tables take. It
// also counts tables that are still in use but closed.
func (s *Set) MemorySize() int64 { return s.memory.total() }

// FilterErr returns why filters of tables are not in use: the joined errors of FilterErr of the
// tables' Readers. It is about the tables that were opened, as they were then. Lookups have the
// same results without these filters and are slower. After Close it returns [table.ErrClosed].
func (s *Set) FilterErr() error {
	v, err := s.acquire()
	if err != nil {
		return err
	}
	defer v.release()
	var errs []error
	for _, m := range v.members {
		m.mu.Lock()
		if m.filterErr != nil {
			errs = append(errs, m.errorf("%w", m.filterErr))
		}
		m.mu.Unlock()
	}
	return errors.Join(errs...)
}

// Close closes the Set. It does not wait: lookups that are under way still get their answers,
// and the tables that they and Iters use are closed when they have ended, for which Drain waits.
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
	v.release()
	if done != nil { // there are no tables
		return done.Close()
	}
	return nil
}
