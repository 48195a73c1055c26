package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/decoded"
	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/filterblock"
	"github.com/sievetable/sievetable/internal/format"
)

// An openTable is what a Reader keeps of its table in memory: the index and the filters. It is
// immutable, but for the search tree of the index.
type openTable struct {
	tableFile

	filters   Filters
	filterErr error
	trust     filterTrust
	byHash    hashFilter // filters.Table, if it depends on the hash of the whole key; else nil

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
	t = &openTable{tableFile: tableFile{o: o, closed: closed}}
	if err := t.openEnd(r, size); err != nil {
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
	if t.o.FilterKey == nil {
		t.byHash, _ = t.filters.Table.(hashFilter)
	}
	if t.filters.Blocks != nil {
		t.index.filters = filterblock.ReaderOf(t.filters.Blocks)
	}
	return nil
}

// A tableFile is the file of a table. It finds blocks by footer and index, and reads them. A
// Reader is a tableFile with filters and a cache. A Layout is a tableFile only.
type tableFile struct {
	o      *ReaderOptions // with defaults
	order  encoded.Order  // of keys: that of the Comparer
	src    io.ReaderAt
	slices SliceReaderAt // src, if it hands out its bytes; else nil
	mapped *mapping      // src, if it is that; else nil

	footer       footer
	footerErr    error  // damage that no lookup depends on
	footerOffset uint64 // where the footer starts; all blocks end before it
	index        *index // nil until it is read

	closed *atomic.Bool // the file can be closed
}

// openEnd sets f to the file of the first size bytes of r, and reads the footer. If TailSize is
// set, f then has the end of the file in memory.
func (f *tableFile) openEnd(r io.ReaderAt, size int64) error {
	if r == nil {
		return errors.New("table: the io.ReaderAt is nil")
	}
	if size < 0 {
		return fmt.Errorf("table: size is %d, want 0 or more", size)
	}
	f.order = encoded.Order(BlockOrder(f.o.Comparer))
	if size < format.FooterLen {
		return f.corrupt(FooterBlock, Handle{0, uint64(size)}, "file of %d bytes, want at least %d", size, format.FooterLen)
	}
	f.footerOffset = uint64(size) - format.FooterLen
	if f.slices, _ = r.(SliceReaderAt); f.slices != nil {
		f.src = r
		f.mapped, _ = r.(*mapping)
	} else if f.src = r; f.o.TailSize > 0 {
		if n := min(int64(f.o.TailSize), size, maxReadSize); alloc.CheckLarge(uint64(n)) == nil { // else its blocks are read one by one
			f.src = readTail(r, size, make([]byte, n))
		}
	}
	return f.readFooter()
}

// readFooter reads the footer.
func (f *tableFile) readFooter() error {
	var buf [format.FooterLen]byte
	n, err := f.src.ReadAt(buf[:], int64(f.footerOffset))
	if err := f.endRead(FooterBlock, buf[:], f.footerOffset, n, err); err != nil {
		return err
	}
	footer, padding, err := decodeFooter(buf[:], f.footerOffset)
	if err != nil {
		return f.damaged(FooterBlock, f.footerHandle(), err)
	}
	f.footer = footer
	if meta, index := footer.metaindex, footer.index; index.overlaps(meta) {
		return f.corrupt(FooterBlock, f.footerHandle(), "index at %d overlaps metaindex at %d", index.Offset, meta.Offset)
	}
	if len(bytes.TrimLeft(padding, "\x00")) > 0 {
		f.footerErr = f.corrupt(FooterBlock, f.footerHandle(), "padding %x, want zeros: nothing else is wrong, and the table is read", padding)
	}
	return nil
}

// footerHandle returns where the footer is.
func (f *tableFile) footerHandle() Handle { return Handle{f.footerOffset, format.FooterLen} }
