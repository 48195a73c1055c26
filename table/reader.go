package table

import (
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/decoded"
	"github.com/sievetable/sievetable/internal/regular"
)

// A Reader looks keys up in a table. It is safe for concurrent use, and its
// lookups take no lock: apart from being closed it never changes.
type Reader struct {
	tableFile
	o    ReaderOptions
	file *os.File // what Open opened; nil if NewReader made the Reader

	filters     LayoutFilters
	filterSpans []filter.Span // of the data blocks, in the filter block
	filterErr   error

	cachedBlocks []atomic.Pointer[decoded.Cached] // by data block; nil if there is no cache
	cacheOwner   *cacheOwner
}

// NewReader returns a Reader of the table that is the first size bytes of r,
// which must be safe for concurrent use and not change. It reads footer, index,
// metaindex and filters, and keeps index and filters in memory. nil options are
// the defaults; impossible ones are an error. Close does not close r.
//
// A table that is damaged in footer or index is a *CorruptionError. A filter
// that cannot be used is not: see FilterErr. An error of r, while any of these
// is read, is in the chain of the one returned.
func NewReader(r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	return newReader("", r, size, o)
}

// newReader is NewReader of the file name.
func newReader(name string, r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	t, err := newIndexReader(name, r, size, o)
	if err != nil {
		return nil, err
	}
	if err := t.openMeta(); err != nil {
		return nil, err
	}
	t.src = r // and not the end of it any more
	return t, nil
}

// newIndexReader returns a Reader that has its index, but no filter. It still has the
// end of the file in memory.
func newIndexReader(name string, r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Reader{o: opts}
	if err := t.openEnd(name, r, size, &opts); err != nil {
		return nil, err
	}
	if err := t.openIndex(); err != nil {
		return nil, err
	}
	if opts.Cache != nil && opts.Cache.budget > 0 {
		t.cachedBlocks = make([]atomic.Pointer[decoded.Cached], t.index.len())
		t.cacheOwner = &cacheOwner{metrics: opts.Metrics}
	}
	return t, nil
}

// Open returns a Reader of the file name, which Close closes. See NewReader. It
// refuses what is not a regular file: a pipe, say, could make it wait for ever.
//
// If the table has a filter, Open also reads the first data block. A filter that denies
// the table's first key is not used, and FilterErr says so.
func Open(name string, o *ReaderOptions) (*Reader, error) {
	f, info, err := regular.Open(name)
	if err != nil {
		return nil, wrap(err)
	}
	r, err := newReader(f.Name(), f, info.Size(), o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.file = f
	r.checkFilterKey()
	return r, nil
}

// openMeta reads the metaindex, if it is needed, and the filters.
func (r *Reader) openMeta() error {
	if r.o.IgnoreFilter && r.index.len() > 0 {
		return nil
	}
	metaindex, err := r.readMetaindex()
	if err == nil {
		if err := r.checkNoData(metaindex); err != nil || r.o.IgnoreFilter {
			return err
		}
		r.filters, err = r.openFilters(metaindex, &r.o)
	}
	if unread(err) {
		return err
	}
	if !r.o.IgnoreFilter {
		r.filterErr = err
	}
	if b := r.filters.Blocks; b != nil {
		r.filterSpans = filterSpans(b, r.index.handles)
	}
	return nil
}

// FilterErr returns why a filter of the table, of data blocks or of the whole table, is
// not in use. It is damaged, or the metaindex that lists it is; or no policy is known by
// its name; or Open found that it denies the table's first key, because FilterKey is not
// the one that the table was written with. It is nil if all filters are in use, the table
// has none, or IgnoreFilter was set.
//
// Without the filter lookups give the same answers and are only slower. That FilterErr is
// nil does not say that the filter is right: Verify checks that.
func (r *Reader) FilterErr() error { return r.filterErr }

// Close ends the Reader: from now on its methods return ErrClosed, and so do its
// Iters when they seek or would have to read. Values that Get returned stay valid. A second Close
// is ErrClosed.
func (r *Reader) Close() error {
	if r.closed.Swap(true) {
		return ErrClosed
	}
	if r.cachedBlocks != nil {
		r.o.Cache.removeAll(r.cacheOwner)
	}
	if r.file == nil {
		return nil
	}
	return wrap(r.file.Close())
}
