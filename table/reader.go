package table

import (
	"errors"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/decoded"
	"github.com/sievetable/sievetable/internal/regular"
)

// A Reader looks up keys in a table, and iterates over it. It keeps the index and the filters
// in memory. It is safe for concurrent use, and lookups take no lock. [Open] and [NewReader]
// return one.
type Reader struct {
	tableFile
	o    ReaderOptions
	file file // that Open or OpenFS has opened; nil if the Reader is from NewReader

	filtersUserKeys bool // as by InternalFilterKey, which can also be asked for separators

	filters     LayoutFilters
	filterSpans filter.Spans // where the filter of each data block is
	filterErr   error

	filterOnly bool  // the properties say that there are no entries, but keys in the filter
	hidden     error // why there may be keys though there are no data blocks; nil: there are none

	cachedBlocks []atomic.Pointer[decoded.Cached] // those of cachedFile; nil if there is no cache
	cachedFile   *cachedFile

	life lifetime
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
	name := ""
	if o != nil {
		name = o.Name
	}
	t, err := newReader(name, r, size, o)
	if err == nil {
		t.openCache()
	}
	return t, err
}

// newReader does what NewReader does. name is for errors.
func newReader(name string, r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	t, err := newIndexReader(name, r, size, o)
	if err != nil {
		return nil, err
	}
	if err := t.openMeta(); err != nil {
		return nil, err
	}
	t.src = r // frees the tail
	return t, nil
}

// newIndexReader returns a Reader that has its index, but no filters. Its source still has
// the tail of the file in memory.
func newIndexReader(name string, r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Reader{o: opts, filtersUserKeys: (o == nil || o.FilterKey == nil) && filtersUserKeys(opts.Comparer)}
	t.life.released = make(chan struct{}, 1)
	if err := t.openEnd(name, r, size, &opts); err != nil {
		return nil, err
	}
	if err := t.openIndex(); err != nil {
		return nil, err
	}
	return t, nil
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
	if r, err = newReader(name, f, info.Size(), o); err != nil {
		return nil, err
	}
	r.file = f
	r.checkFilterKey()
	r.openCache()
	opened = true
	return r, nil
}

// A file is what Open and OpenFS have opened.
type file interface {
	io.ReaderAt
	io.Closer
}

// openMeta reads the metaindex and the filters, if they are needed.
func (r *Reader) openMeta() error {
	if r.o.IgnoreFilter && r.index.len() > 0 {
		return nil
	}
	metaindex, err := r.readMetaindex()
	if err == nil {
		if err := r.checkNoData(metaindex); err != nil {
			return err
		}
		if err := r.openFilterOnly(metaindex); err != nil || r.o.IgnoreFilter {
			return err
		}
		r.filters, err = r.openFilters(metaindex, &r.o)
		if r.hidden == ErrFilterOnly && r.filters.Table == nil {
			return err // there is nothing else
		}
	} else if r.index.len() == 0 {
		r.hidden = err
	}
	if unread(err) {
		return err
	}
	if !r.o.IgnoreFilter {
		r.filterErr = err
	}
	if b := r.filters.Blocks; b != nil {
		r.filterSpans = b.Spans(r.index.len(), func(i int) uint64 { return r.index.handles.at(i).Offset })
	}
	return nil
}

// FilterErr returns why a filter of the table is not in use. It is nil if all filters are in
// use, if the table has none, or if IgnoreFilter is set. The reasons are:
//
//   - The filter is damaged, or the metaindex is.
//   - No policy in FilterPolicies or TableFilterPolicies has its name.
//   - Open found that it denies the table's first key. Most likely FilterKey is not the one
//     that the table was written with. Then no other filter of the table is used either.
//
// Without the filter, lookups have the same results and are slower, and MayContain is of little
// use. A table with a filter only does not open without it. A filter that is in use can still be
// wrong: Verify checks all keys.
func (r *Reader) FilterErr() error { return r.filterErr }

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
	if r.cachedBlocks != nil {
		r.o.Cache.closeFile(r.cachedFile)
	}
	if r.file == nil {
		return nil
	}
	return wrap(r.file.Close())
}
