package table

import (
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/decoded"
)

// An openTable is what a Reader keeps of its table in memory: the index and the filters. It is
// immutable, but for the search tree of the index.
type openTable struct {
	tableFile
	o *ReaderOptions // with defaults

	filters   Filters
	filterErr error
	trust     filterTrust

	filterOnly bool  // the properties say that there are no entries, but keys in the filter
	hidden     error // why there may be keys though there are no data blocks; nil: there are none

	cachedBlocks []atomic.Pointer[decoded.Cached] // those of cachedFile; nil if there is no cache
	cachedFile   *cachedFile                      // nil if there is no cache
}

// newOpenTable opens the table in the first size bytes of r. closed says whether the Reader is
// closed.
func newOpenTable(r io.ReaderAt, size int64, o *ReaderOptions, closed *atomic.Bool) (*openTable, error) {
	b := buffersPool.Get().(*buffers)
	defer b.put()
	t, m, err := newIndexTable(r, size, o, closed, b)
	if err != nil {
		return nil, err
	}
	if err := t.openMeta(m, b); err != nil {
		return nil, err
	}
	t.src = r // frees a tail that openEnd has read
	return t, nil
}

// newIndexTable returns an openTable that has its index, but no filters. Its source still has
// the tail of the file in memory. It returns the metaindex too, in b, if it had to be read, and else
// nil: decompressed, it can take so much memory that it is read once.
func newIndexTable(r io.ReaderAt, size int64, o *ReaderOptions, closed *atomic.Bool, b *buffers) (t *openTable, m metaindex, err error) {
	t = &openTable{o: o}
	t.closed = closed
	if err := t.openEnd(r, size, o); err != nil {
		return nil, nil, err
	}
	if t.index, err = t.readIndex(false); err != nil {
		return nil, nil, err
	}
	m, err = t.checkTailSum(o.TailSum, b)
	if err != nil {
		return nil, nil, err
	}
	return t, m, nil
}

// openMeta reads the filters, if they are needed, and the metaindex for them into b if it is nil.
func (t *openTable) openMeta(m metaindex, b *buffers) (err error) {
	if t.o.IgnoreFilter && t.index.len() > 0 {
		return nil
	}
	if m == nil {
		m, err = t.readMetaindex(b)
	}
	if err == nil {
		if err := t.checkNoData(m); err != nil {
			return err
		}
		if err := t.openFilterOnly(m, new(buffers)); err != nil || t.o.IgnoreFilter {
			return err
		}
		t.filters, err = t.openFilters(m, t.o)
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
	t.index.filters = t.filters.Blocks
	return nil
}
