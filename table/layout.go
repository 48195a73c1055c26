package table

import (
	"bytes"
	"io"

	"github.com/sievetable/sievetable/filter"
)

// A Part is a block that another one lists.
type Part struct {
	Name []byte // of a data block its separator, else what the metaindex calls it
	Handle
}

// A Layout is where the blocks of a table are. It is for tools: lookups and
// iteration are a Reader's. It is safe for concurrent use.
type Layout struct {
	Footer    int64  // where the 48 bytes at the end of the file start
	Metaindex Handle // as the footer says
	Index     Handle // as the footer says
	Data      []Part // in the order of the file

	r *Reader
}

// ReadLayout reads the footer and the index of the table that is the first size
// bytes of r, which must be safe for concurrent use. Of the options it takes
// Codecs, MaxBlockSize and SkipChecksums. The order of keys does not matter to it,
// so that it serves to find out about a table that nothing is known of. Damage in
// footer and index is a *CorruptionError. With one about the index comes the Layout
// that the footer gives, which lacks Data.
func ReadLayout(r io.ReaderAt, size int64, o *ReaderOptions) (*Layout, error) {
	var opts ReaderOptions
	if o != nil {
		opts = ReaderOptions{Codecs: o.Codecs, MaxBlockSize: o.MaxBlockSize, SkipChecksums: o.SkipChecksums}
	}
	opts.Comparer = AnyOrder
	t, err := sizedReader("", r, size, &opts)
	if err != nil {
		return nil, err
	}
	err = t.openIndex()
	if t.footer.index.Length == 0 { // it was not come to
		return nil, err
	}
	t.src = r
	if err != nil {
		t.index = new(index)
	}
	l := &Layout{Footer: int64(t.footerOffset), Metaindex: t.footer.metaindex, Index: t.footer.index, r: t}
	l.Data = make([]Part, t.index.len())
	for i, h := range t.index.handles {
		l.Data[i] = Part{Name: t.index.separator(i), Handle: h}
	}
	return l, err
}

// Meta reads the metaindex, and returns the blocks that it lists, in the order of
// their names. A name that starts with "filter." is of a filter block,
// "fullfilter." of the whole table's filter, and "rocksdb.properties" of properties.
func (l *Layout) Meta() ([]Part, error) {
	it, err := l.r.readMetaindex()
	if err != nil {
		return nil, err
	}
	var parts []Part
	room := metaindexKeyBudget.of(l.r.footerOffset)
	for it.Next() {
		if room -= len(it.Key()); len(parts) == maxMetaBlocks || room < 0 {
			return nil, l.r.corrupt(MetaindexBlock, l.r.footer.metaindex, "more than %d entries, or too long ones", maxMetaBlocks)
		}
		h, err := l.r.metaHandle(MetaBlock, it.Value())
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{Name: bytes.Clone(it.Key()), Handle: h})
	}
	return parts, nil
}

// LayoutFilters are the filters of a table that a Reader asks.
type LayoutFilters struct {
	Blocks     *filter.BlockReader // by data blocks; nil if there is none
	BlocksPart Part                // what it is listed as, and where
	Whole      filter.TableFilter  // of the whole table; nil if there is none
	WholePart  Part
}

// Filters reads the filters that a Reader without filter policies asks. The error is
// what its FilterErr is, and of reading: what is returned is then what can be used.
func (l *Layout) Filters() (LayoutFilters, error) {
	r := &Reader{o: l.r.o, src: l.r.src, footer: l.r.footer, footerOffset: l.r.footerOffset, index: l.r.index}
	it, err := r.readMetaindex()
	if err == nil {
		err = r.readFilters(it)
	}
	return LayoutFilters{Blocks: r.filter, BlocksPart: r.filterPart, Whole: r.tableFilter, WholePart: r.tableFilterPart}, err
}

// ReadBlock reads a block and returns its contents, decompressed, which are the
// caller's, and the compression id that it is stored with. Damage is a
// *CorruptionError that calls the block by what the Layout knows it as.
func (l *Layout) ReadBlock(h Handle) (contents []byte, compression byte, err error) {
	var b buffers
	part, at := l.kind(h), h
	if h.Offset > uint64(l.Footer) || h.Length > uint64(l.Footer) || at.end() > uint64(l.Footer) {
		return nil, 0, l.r.corrupt(part, at, "%d bytes and a trailer, want them to end before the footer at %d", h.Length, l.Footer)
	}
	id, err := l.r.readStored(part, at, &b)
	if err != nil {
		return nil, 0, err
	}
	contents, err = l.r.decode(part, at, &b, id)
	return contents, id, err
}

// kind is what errors call the block at h.
func (l *Layout) kind(h Handle) BlockKind {
	switch {
	case h == l.Metaindex:
		return MetaindexBlock
	case h == l.Index:
		return IndexBlock
	}
	if _, data := l.r.index.overlapping(Handle{h.Offset, h.Length}); data {
		return DataBlock
	}
	return MetaBlock
}
