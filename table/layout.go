package table

import (
	"io"
	"sync/atomic"
)

// An IndexEntry is an entry of the index: a data block and its separator.
type IndexEntry struct {
	Separator []byte // ≥ all keys of the block, and < all keys of the next; must not be changed
	Handle
}

// A Layout says where the blocks of a table are in the file. It is for tools that list or
// repair tables; to look up keys or to iterate, use a [Reader]. A Layout is safe for
// concurrent use. ReadLayout returns one.
type Layout struct {
	Footer    int64        // offset of the footer, the last 48 bytes of the file
	FooterErr error        // damage in the footer that no lookup depends on; nil: none
	Metaindex Handle       // from the footer
	Index     Handle       // from the footer
	Data      []IndexEntry // the data blocks, in the order of the file

	file *tableFile
}

// ReadLayout reads the footer and the index of a table, the first size bytes of r. It works
// for tables in any order: of the options it uses only Name, Codecs, MaxBlockSize, SkipChecksums,
// FilterPolicies and TableFilterPolicies. o may be nil. The Layout keeps r, which must be safe
// for concurrent use.
//
// Damage in footer or index is a *CorruptionError. If ReadLayout can decode the handles of the
// footer, it returns a Layout together with the error. That Layout has no Data.
func ReadLayout(r io.ReaderAt, size int64, o *ReaderOptions) (*Layout, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	opts.Comparer, opts.TailSize = AnyOrder, 0
	f := &tableFile{o: &opts, closed: new(atomic.Bool)} // it stays open
	err = f.openEnd(r, size)
	if f.footer.index.Length == 0 {
		return nil, err // of the footer
	}
	l := f.newLayout()
	f.index = &index{f: f}
	if err == nil {
		err = l.readData()
	}
	return l, err
}

// Layout returns the layout of the table. It reads the index again only if the source hands out its
// bytes, which can change. Damage in the index is a *CorruptionError, with a Layout that has no Data.
func (r *Reader) Layout() (*Layout, error) {
	if r.closed.Load() {
		return nil, ErrClosed
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	f := t.tableFile
	if f.slices != nil {
		f.index = &index{f: &f}
	}
	l := f.newLayout()
	return l, l.readData()
}

// newLayout returns a Layout without Data.
func (f *tableFile) newLayout() *Layout {
	return &Layout{Footer: int64(f.footerOffset), FooterErr: f.footerErr, Metaindex: f.footer.metaindex, Index: f.footer.index, file: f}
}

// readData reads the index, unless that is there, and sets Data.
func (l *Layout) readData() (err error) {
	f := l.file
	defer f.mapped.leave(f.mapped.enter(), &err)
	if f.index.n == 0 {
		x, err := f.readIndex(true)
		if err != nil {
			return err
		}
		f.index = x
	}
	data := make([]IndexEntry, f.index.len())
	err = f.index.checkAll(func(i int, separator []byte, h Handle) { data[i] = IndexEntry{separator, h} })
	if err != nil {
		f.index = &index{f: f}
		return err
	}
	l.Data = data
	return nil
}

// Meta reads the metaindex and returns its entries, in the order of their names. The name of
// a filter block starts with "filter.", and that of a filter of the whole table with
// "fullfilter.". The name of the properties is "rocksdb.properties", and that of the digest of
// the data blocks "sievetable.digest", and that of the table filter's exceptions "sievetable.never".
func (l *Layout) Meta() (entries []MetaindexEntry, err error) {
	defer l.file.mapped.leave(l.file.mapped.enter(), &err)
	return l.file.metaEntries()
}

// Filters reads the filters that a Reader with the same policies would check. The error is
// that of its FilterErr, or an error of reading. Even if there is an error, it returns the
// filters that can be used. Those of a mapped file are parts of it: see ReaderOptions.Mapped.
func (l *Layout) Filters() (filters Filters, err error) {
	defer l.file.mapped.leave(l.file.mapped.enter(), &err)
	m, err := l.file.readMetaindex(new(buffers))
	if err != nil {
		return Filters{}, err
	}
	return l.file.openFilters(m, l.file.o)
}

// ReadBlock reads the block at h. It returns its contents, decompressed, and the compression
// id from its trailer. The slice is the caller's. Damage is a *CorruptionError.
func (l *Layout) ReadBlock(h Handle) (contents []byte, compression byte, err error) {
	defer l.file.mapped.leave(l.file.mapped.enter(), &err)
	b := buffers{copies: true}
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

// kind returns the kind of the block at h. It does not tell meta blocks apart.
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
