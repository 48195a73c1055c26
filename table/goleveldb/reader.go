package goleveldb

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb/cache"
	lerrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// A Reader reads a table. It is safe for concurrent use.
type Reader struct {
	fd   storage.FileDesc // for errors
	size int64
	src  source
	o    *opt.Options

	order   order
	ordered view // in the order of the keys
	listed  view // in the order of the file, whatever that is

	blocks blockCache

	released atomic.Bool
}

// NewReader returns a Reader of the table in the first size bytes of f, which must not change. f must be safe for
// concurrent use; Release closes it if it is an io.Closer. fd names the file in errors. c and o may be nil, and bpool
// is not used.
//
// If the table is corrupt, the methods and iterators of the Reader return the error. I/O errors are returned by
// NewReader.
func NewReader(
	f io.ReaderAt, size int64, fd storage.FileDesc,
	c *cache.NamespaceGetter, bpool *util.BufferPool, o *opt.Options,
) (*Reader, error) {
	if f == nil {
		return nil, errNilFile
	}
	r := &Reader{fd: fd, size: max(size, 0), o: o, order: orderOf(o.GetComparer()), blocks: openBlockCache(c)}
	r.src.file, r.src.account = f, r.blocks.account
	r.ordered.options = r.readerOptions()
	r.listed.options = r.ordered.options
	listed := &r.listed.options
	listed.Comparer, listed.FilterKey, listed.IgnoreFilter = table.AnyOrder, nil, true
	if _, err := r.toList(); err != nil && !lerrors.IsCorrupted(err) {
		r.blocks.release()
		return nil, err
	}
	return r, nil
}

// readerOptions returns the options of the table.Reader in the order of the keys.
func (r *Reader) readerOptions() table.ReaderOptions {
	policies := readingPolicies(r.o, r.order)
	o := table.ReaderOptions{
		Comparer:       r.order.comparer,
		FilterPolicies: policies,
		IgnoreFilter:   len(policies) == 0,
		FilterKey:      filterKey(r.o, r.order),
		SkipChecksums:  !r.o.GetStrict(opt.StrictBlockChecksum),
		Cache:          r.blocks.cache,
		CacheKey:       r.blocks.key,
	}
	if !r.fd.Zero() {
		o.Name = r.fd.String()
	}
	return o
}

// toSearch returns the table in the order of its keys.
func (r *Reader) toSearch() (*table.Reader, error) {
	t, err := r.ordered.open(r)
	return t, r.translate(err)
}

// toList returns the table for moves that compare no keys: in key order, unless the comparer is a program's own, its
// order differs from the table's, or the table cannot be put in order.
func (r *Reader) toList() (*table.Reader, error) {
	if !r.order.foreign {
		t, err := r.ordered.open(r)
		if !r.isDisorder(err) && !isDataDamage(err) {
			return t, r.translate(err)
		}
	}
	t, err := r.listed.open(r)
	return t, r.translate(err)
}

// isDisorder reports whether err means that the table's order differs from the comparer's. In an engine's tables,
// that is corruption. In other tables, goleveldb does not notice it.
func (r *Reader) isDisorder(err error) bool {
	return !r.order.internal && errors.Is(err, table.ErrOrder)
}

// isDataDamage reports whether err says that a data block is damaged. The table was to be put in order then: other
// tables are opened without reading one.
func isDataDamage(err error) bool {
	var damage *table.CorruptionError
	return errors.As(err, &damage) && damage.Block == layout.DataBlock
}

// OffsetOf returns the offset in the file of the data block that may contain key. If key is greater than all keys, it
// is the offset of the filter block or, if no filter is used, of the metaindex.
func (r *Reader) OffsetOf(key []byte) (offset int64, err error) {
	t, err := r.toSearch()
	if err != nil {
		return 0, err
	}
	if r.released.Load() {
		return 0, ErrReaderReleased
	}
	offset = t.ApproximateOffset(key)
	if filters := t.Filters(); filters.Blocks != nil {
		offset = min(offset, int64(filters.BlocksEntry.Offset))
	}
	return offset, nil
}

// Release closes the Reader, and its file if that is an io.Closer, after waiting for reads of the file. Methods then
// fail with ErrReaderReleased, and so do iterators when they seek or reach another data block. Slices that Find and Get
// returned remain valid. Release may be called more than once, and concurrently with other methods.
func (r *Reader) Release() {
	r.released.Store(true)
	r.src.release() // first, so that nothing is opened after the next lines
	r.ordered.close()
	r.listed.close()
	r.blocks.release()
}
