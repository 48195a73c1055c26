package table

import (
	"crypto/sha256"
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// An IndexEntry is an entry of the index: a data block and its separator.
type IndexEntry struct {
	Separator []byte // >= all keys of the block, and < all keys of the next; must not be changed
	Handle
}

// A Handle says where a block is in the file. Index and metaindex entries and the footer
// store it as two uvarints: offset, then length.
type Handle struct {
	Offset uint64 // of the block, in bytes from the start of the file
	Length uint64 // of the block in the file, in bytes, without the trailer of 5 bytes
}

// A Layout describes where the blocks of a table are in the file. It is for tools that list or repair tables.
// A Layout is safe for concurrent use.
type Layout struct {
	Footer    int64        // offset of the footer, the last 48 bytes of the file
	FooterErr error        // damage in the footer that no lookup depends on; nil: none
	Metaindex Handle       // from the footer
	Index     Handle       // from the footer
	Data      []IndexEntry // the data blocks, in the order of the file

	file metaReader
}

// ReadLayout reads the footer and the index of a table, the first size bytes of r. It works
// for tables in any order: of the options it uses only Name, Codecs, MaxBlockSize, SkipChecksums,
// FilterPolicies and TableFilterPolicies. o may be nil. The Layout keeps r, which must be safe
// for concurrent use.
//
// Damage in footer or index is a *CorruptionError. If ReadLayout can decode the handles of the
// footer, it returns a Layout together with the error. That Layout has no Data.
func ReadLayout(r io.ReaderAt, size int64, o *ReaderOptions) (*Layout, error) {
	opts := new(ReaderOptions)
	if err := opts.set(o); err != nil {
		return nil, err
	}
	opts.Comparer, opts.TailSize = AnyOrder, 0
	f := metaReader{new(tablefile.File), opts}
	var fileOptions tablefile.Options
	opts.setFile(&fileOptions)
	err := f.Init(r, size, &fileOptions, new(atomic.Bool)) // it stays open
	if f.Footer.Index.Length == 0 {
		return nil, err // of the footer
	}
	l := f.newLayout()
	f.DropIndex()
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
	f := metaReader{t.file.Clone(), t.o}
	if f.HandsOut() {
		f.DropIndex()
	}
	l := f.newLayout()
	return l, l.readData()
}

// newLayout returns a Layout without Data.
func (f metaReader) newLayout() *Layout {
	return &Layout{
		Footer: int64(f.FooterOffset), FooterErr: f.FooterErr,
		Metaindex: Handle(f.Footer.Metaindex), Index: Handle(f.Footer.Index), file: f,
	}
}

// readData reads the index, unless that is there, and sets Data.
func (l *Layout) readData() error {
	f := l.file
	return f.Guard(func() error {
		if f.Index.N == 0 {
			if err := f.ReadIndex(true); err != nil {
				return err
			}
		}
		data := make([]IndexEntry, f.Index.N)
		err := f.Index.CheckAll(func(i int, separator []byte, h tablefile.Handle) {
			data[i] = IndexEntry{separator, Handle(h)}
		})
		if err != nil {
			f.DropIndex()
			return err
		}
		l.Data = data
		return nil
	})
}

// Meta reads the metaindex and returns its entries, in the order of their names. The name of
// a filter block starts with "filter.", and that of a filter of the whole table with
// "fullfilter.". The name of the properties is "rocksdb.properties", and that of the digest of
// the data blocks "sievetable.digest", and that of the table filter's exceptions "sievetable.never".
func (l *Layout) Meta() (entries []MetaindexEntry, err error) {
	err = l.file.withMetaindex(func(m tablefile.Metaindex) error {
		for _, b := range l.file.metaBlocks(m, nil) {
			if b.err != nil {
				return b.err
			}
			entries = append(entries, MetaindexEntry{string(b.name), Handle(b.Handle)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Filters reads the filters that a Reader with the same policies would check. The error is
// that of its FilterErr, or an error of reading. Even if there is an error, it returns the
// filters that can be used. Those of a mapped file are parts of it: see ReaderOptions.Mapped.
func (l *Layout) Filters() (filters Filters, err error) {
	err = l.file.withMetaindex(func(m tablefile.Metaindex) (err error) {
		filters, err = l.file.openFilters(m)
		return err
	})
	return filters, err
}

// ReadBlock reads the block at h. It returns its contents, decompressed, and the compression
// id from its trailer. The slice is the caller's. Damage is a *CorruptionError.
func (l *Layout) ReadBlock(h Handle) (contents []byte, compression byte, err error) {
	err = l.file.Guard(func() (err error) {
		contents, compression, err = l.file.ReadAny(l.kind(h), tablefile.Handle(h))
		return err
	})
	return contents, compression, err
}

// kind returns the kind of the block at h. It does not tell meta blocks apart.
func (l *Layout) kind(h Handle) tablefile.Kind {
	switch {
	case h == l.Metaindex:
		return tablefile.MetaindexBlock
	case h == l.Index:
		return tablefile.IndexBlock
	}
	if _, data := l.file.Index.Overlapping(tablefile.Handle(h)); data {
		return tablefile.DataBlock
	}
	return tablefile.MetaBlock
}

// TailSum returns a fingerprint of the table: the SHA-256 of
//
//   - the trailers (compression id and checksum) of the blocks that the metaindex lists, in its
//     order, once for each of their names;
//   - the trailers of the metaindex and of the index;
//   - the contents of the digest block, if there is one;
//   - the footer, with zeros for its padding.
//
// withData says whether there is a digest block. Without it, two tables of the same keys and other
// values can have the same TailSum. See WriterOptions.DataDigest.
//
// TailSum reads the metaindex, the digest block and the trailers, and no data. It tells apart what
// changed by accident, as checksums do, and not what was made to look the same.
func (l *Layout) TailSum() (sum [sha256.Size]byte, withData bool, err error) {
	err = l.file.withMetaindex(func(m tablefile.Metaindex) (err error) {
		sum, withData, err = l.file.TailSum(m)
		return err
	})
	return sum, withData, err
}
