package table

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/regular"
)

// A Reader looks up keys in a table, and iterates over it. It keeps the index and the filters
// in memory, unless ReaderOptions.CacheIndexAndFilters is set. It is safe for concurrent use, and
// lookups take no lock, but to add a block to a Cache. A Reader from Open holds an open file
// until Close. [Open] and [NewReader] return one.
type Reader struct {
	opened  atomic.Pointer[openTable] // nil: the Cache has evicted it
	opening sync.Mutex                // is held while the table is opened again

	o         ReaderOptions // as given, but for Name
	src       io.ReaderAt
	size      int64
	file      file  // that Open or OpenFS has opened; nil if the Reader is from NewReader
	filterErr error // why Open does not use filters that could be opened
	closed    atomic.Bool

	filterOnly bool
	cachedFile *cachedFile // nil if there is no cache
	life       lifetime
}

// NewReader returns a Reader of a table: the first size bytes of r. r must be safe for
// concurrent use, and the bytes must not change. NewReader reads the footer, the index, the
// metaindex and the filters. If o is nil, all options are the defaults. An option out of its
// range is an error. Close does not close r.
//
// Damage in footer or index is a *CorruptionError. A filter that cannot be used is no error
// here, unless the table has nothing else: see FilterErr. An error of r is in the chain of the error, so that errors.Is finds
// it. Unlike Open, NewReader does not notice a wrong FilterKey: Verify does.
func NewReader(r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	t, opened, err := newReader(r, size, o)
	if err != nil {
		return nil, err
	}
	return t, t.keep(opened)
}

// newReader returns a Reader, and the open table that it is to keep.
func newReader(src io.ReaderAt, size int64, o *ReaderOptions) (*Reader, *openTable, error) {
	r := &Reader{src: src, size: size}
	if o != nil {
		r.o = *o
	}
	// The caller may change its slices before the table is opened again.
	r.o.FilterPolicies, r.o.TableFilterPolicies = slices.Clone(r.o.FilterPolicies), slices.Clone(r.o.TableFilterPolicies)
	r.o.Codecs = slices.Clone(r.o.Codecs)
	r.life.released = make(chan struct{}, 1)
	t, err := r.openTable()
	if err != nil {
		return nil, nil, err
	}
	r.filterOnly = t.filterOnly
	return r, t, nil
}

// openTable opens the table, as often as it is called.
func (r *Reader) openTable() (*openTable, error) {
	t, err := newOpenTable(r.src, r.size, &r.o, &r.closed)
	if err == nil && r.filterErr != nil {
		t.dropFilters(r.filterErr)
	}
	return t, err
}

// table returns the open table. If the Cache has evicted it, table opens it again.
func (r *Reader) table() (*openTable, error) {
	t := r.opened.Load()
	if t == nil {
		return r.openAgain()
	}
	if t.resident != nil && !t.resident.touched.Load() {
		t.resident.touched.Store(true)
	}
	return t, nil
}

// openAgain opens the table that the Cache has evicted, unless another goroutine does so.
func (r *Reader) openAgain() (*openTable, error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	if t := r.opened.Load(); t != nil {
		return t, nil
	}
	if r.closed.Load() {
		return nil, ErrClosed
	}
	t, err := r.openTable()
	if err != nil {
		return nil, err
	}
	if m := r.o.Metrics; m != nil {
		m.Reopens.Add(1)
	}
	return t, r.keep(t)
}

// Open opens the file name and returns a Reader of the table, as NewReader does. Close closes
// the file. Only regular files can be opened: opening a pipe could block for ever.
//
// If the table has a filter, Open also reads the first data block. If a filter denies the
// table's first key, no filter is used, and FilterErr says so.
func Open(name string, o *ReaderOptions) (*Reader, error) {
	f, info, err := regular.Open(name)
	if err != nil {
		return nil, wrap(err)
	}
	return openFile(name, f, info, o)
}

// openFile opens the table in a file, which Close closes.
func openFile(name string, f file, info fs.FileInfo, o *ReaderOptions) (r *Reader, err error) {
	opened := false
	defer func() { // also if a FilterKey or policy panics
		if !opened {
			err = errors.Join(err, f.Close())
		}
	}()
	var named ReaderOptions
	if o != nil {
		named = *o
	}
	named.Name = name
	r, t, err := newReader(f, info.Size(), &named)
	if err != nil {
		return nil, err
	}
	r.file = f
	if r.filterErr = t.checkFilterKey(); r.filterErr != nil {
		t.dropFilters(r.filterErr)
	}
	if err := r.keep(t); err != nil {
		return nil, err
	}
	opened = true
	return r, nil
}

// A file is what Open and OpenFS have opened.
type file interface {
	io.ReaderAt
	io.Closer
}

// FilterErr returns why a filter of the table is not in use. It is nil if all filters are in
// use, if the table has none, or if IgnoreFilter is set. The reasons are:
//
//   - The filter is damaged, or the metaindex is.
//   - No policy in FilterPolicies or TableFilterPolicies has its name.
//   - With CacheIndexAndFilters, the Cache has evicted the filter, and it cannot be read again,
//     for example since the Reader is closed. The next call tries again.
//   - Open found that it denies the table's first key. Most likely FilterKey is not the one
//     that the table was written with. Then no other filter of the table is used either.
//
// Without the filter, lookups have the same results and are slower, and MayContain is of little
// use. A table with a filter only does not open without it. A filter that is in use can still be
// wrong: Verify checks all keys.
func (r *Reader) FilterErr() error {
	t, err := r.table()
	if err != nil {
		return err
	}
	return t.filterErr
}

// Filters returns the filters that lookups check. What is nil is not in the table, or not in use:
// see FilterErr. They may be used after Close. With CacheIndexAndFilters they are read if the Cache
// has evicted them, and nil if that fails.
func (r *Reader) Filters() LayoutFilters {
	t, err := r.table()
	if err != nil {
		return LayoutFilters{}
	}
	return t.filters
}

// Close waits until all handles are released that Acquire has taken. Then it closes the Reader,
// and the file if Open has opened it. After Close, lookups, Verify, Properties, FirstKey,
// LastKey, Acquire and a second Close return ErrClosed. Iters fail with ErrClosed when they
// seek or come to another block. Values that Get and Find have returned stay valid. Close may
// be called while other methods run. It does not wait for lookups and Iters without a handle:
// these may fail with ErrClosed. A second Close does not wait either. A goroutine that holds a
// handle must not call Close: it would wait for itself.
func (r *Reader) Close() error {
	if !r.life.close() {
		return ErrClosed
	}
	r.closed.Store(true)
	if r.cachedFile != nil {
		r.o.Cache.closeFile(r.cachedFile, &r.opened)
	}
	if r.file == nil {
		return nil
	}
	return wrap(r.file.Close())
}
