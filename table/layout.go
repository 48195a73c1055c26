package table

import "io"

// An IndexEntry is a data block that the index lists.
type IndexEntry struct {
	Separator []byte // ≥ every key of the block, and < every key of the next; not to be changed
	Handle
}

// A Layout is where the blocks of a table are. It is for tools: lookups and
// iteration are a Reader's. It is safe for concurrent use.
type Layout struct {
	Footer    int64        // where the 48 bytes at the end of the file start
	Metaindex Handle       // as the footer says
	Index     Handle       // as the footer says
	Data      []IndexEntry // in the order of the file

	file *tableFile
}

// ReadLayout reads the footer and the index of the table that is the first size
// bytes of r, which must be safe for concurrent use. Of the options it takes
// Codecs, MaxBlockSize and SkipChecksums. The order of keys does not matter to it,
// so that it serves to find out about a table that nothing is known of. Damage in
// footer and index is a *CorruptionError. With one about the index comes the Layout
// that the footer gives, which lacks Data.
func ReadLayout(r io.ReaderAt, size int64, o *ReaderOptions) (*Layout, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	opts.Comparer, opts.TailSize = AnyOrder, 0
	f := new(tableFile)
	if err := f.openEnd("", r, size, &opts); err != nil {
		return nil, err
	}
	if err = f.openIndex(); f.footer.index.Length == 0 { // it was not come to
		return nil, err
	}
	if err != nil {
		f.index = new(index)
	}
	l := &Layout{Footer: int64(f.footerOffset), Metaindex: f.footer.metaindex, Index: f.footer.index, file: f}
	l.Data = make([]IndexEntry, f.index.len())
	for i, h := range f.index.handles {
		l.Data[i] = IndexEntry{Separator: f.index.separator(i), Handle: h}
	}
	return l, err
}

// Meta reads the metaindex, and returns what it lists, in the order of the names. A
// name that starts with "filter." is of a filter block, "fullfilter." of the whole
// table's filter, and "rocksdb.properties" of the properties.
func (l *Layout) Meta() ([]MetaindexEntry, error) { return l.file.metaEntries() }

// Filters reads the filters that a Reader without filter policies in its options checks.
// The error is what its FilterErr is, or of reading: what is returned is then what can
// be used.
func (l *Layout) Filters() (LayoutFilters, error) {
	metaindex, err := l.file.readMetaindex()
	if err != nil {
		return LayoutFilters{}, err
	}
	return l.file.openFilters(metaindex, new(ReaderOptions))
}

// ReadBlock reads a block and returns its contents, decompressed, which are the
// caller's, and the compression id that it is stored with. Damage is a
// *CorruptionError that calls the block by what the Layout knows it as.
func (l *Layout) ReadBlock(h Handle) (contents []byte, compression byte, err error) {
	var b buffers
	kind := l.kind(h)
	if end := uint64(l.Footer); h.Offset > end || h.Length > end || h.end() > end {
		return nil, 0, l.file.corrupt(kind, h, "%d bytes and a trailer, want them to end before the footer at %d", h.Length, l.Footer)
	}
	id, err := l.file.readStored(kind, h, &b)
	if err != nil {
		return nil, 0, err
	}
	contents, err = l.file.decompress(kind, h, &b, id)
	return contents, id, err
}

// kind returns what the block at h is, as far as the Layout knows.
func (l *Layout) kind(h Handle) BlockKind {
	switch {
	case h == l.Metaindex:
		return MetaindexBlock
	case h == l.Index:
		return IndexBlock
	}
	if _, data := l.file.index.overlapping(h); data {
		return DataBlock
	}
	return MetaBlock
}
