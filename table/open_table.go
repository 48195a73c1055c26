package table

import (
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/decoded"
)

// An openTable is what a Reader keeps of its table in memory: the index and the filters. It is
// immutable, but for the mark of use.
type openTable struct {
	tableFile
	o ReaderOptions

	filtersUserKeys bool // as by InternalFilterKey, which can also be asked for separators

	filters     LayoutFilters
	filterSpans filter.Spans // where the filter of each data block is
	filterErr   error

	filterOnly bool  // the properties say that there are no entries, but keys in the filter
	hidden     error // why there may be keys though there are no data blocks; nil: there are none

	cachedBlocks []atomic.Pointer[decoded.Cached] // those of cachedFile; nil if there is no cache
	cachedFile   *cachedFile
	resident     *residentTable // nil: the Cache cannot evict it
}

// newOpenTable opens the table in the first size bytes of r. closed says whether the Reader is
// closed.
func newOpenTable(r io.ReaderAt, size int64, o *ReaderOptions, closed *atomic.Bool) (*openTable, error) {
	t, metaindex, err := newIndexTable(o.Name, r, size, o, closed)
	if err != nil {
		return nil, err
	}
	if err := t.openMeta(metaindex); err != nil {
		return nil, err
	}
	t.src = r // frees the tail
	return t, nil
}

// newIndexTable returns an openTable that has its index, but no filters. Its source still has
// the tail of the file in memory. It returns the metaindex too if it had to be read, and else nil:
// decompressed, it can take so much memory that it is read once.
func newIndexTable(name string, r io.ReaderAt, size int64, o *ReaderOptions, closed *atomic.Bool) (*openTable, *block.Iter, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	t := &openTable{o: opts, filtersUserKeys: (o == nil || o.FilterKey == nil) && filtersUserKeys(opts.Comparer)}
	t.closed = closed
	if err := t.openEnd(name, r, size, &opts); err != nil {
		return nil, nil, err
	}
	if err := t.openIndex(); err != nil {
		return nil, nil, err
	}
	metaindex, err := t.checkTailSum(opts.TailSum)
	if err != nil {
		return nil, nil, err
	}
	return t, metaindex, nil
}

// openMeta reads the filters, if they are needed, and the metaindex for them if it is nil.
func (t *openTable) openMeta(metaindex *block.Iter) (err error) {
	if t.o.IgnoreFilter && t.index.len() > 0 {
		return nil
	}
	if metaindex == nil {
		metaindex, err = t.readMetaindex()
	}
	if err == nil {
		if err := t.checkNoData(metaindex); err != nil {
			return err
		}
		if err := t.openFilterOnly(metaindex, new(buffers)); err != nil || t.o.IgnoreFilter {
			return err
		}
		t.filters, err = t.openFilters(metaindex, &t.o)
		if t.hidden == ErrFilterOnly && t.filters.Table == nil {
			return err // there is nothing else
		}
	} else if t.index.len() == 0 {
		t.hidden = err
	}
	if unread(err) {
		return err
	}
	if !t.o.IgnoreFilter {
		t.filterErr = err
	}
	if b := t.filters.Blocks; b != nil {
		t.filterSpans = b.Spans(t.index.len(), func(i int) uint64 { return t.index.handles.at(i).Offset })
	}
	return nil
}
