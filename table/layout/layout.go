// Package layout describes the file of a table: its blocks, filters and properties. It is for tools that list or repair
// tables, also corrupt ones.
//
//	l, err := r.Layout() // r is a *table.Reader; table.ReadLayout works without one
//	if err != nil { ... }
//	for _, e := range l.Data {
//		contents, _, err := l.ReadBlock(e.Handle)
//		...
//	}
package layout

import (
	"bytes"
	"crypto/sha256"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// A BlockKind is the purpose of a block, and its name in errors.
type BlockKind string

// The kinds of blocks.
const (
	FooterBlock      BlockKind = tablefile.FooterBlock      // "footer": the last 48 bytes of the file
	IndexBlock       BlockKind = tablefile.IndexBlock       // "index block"
	MetaindexBlock   BlockKind = tablefile.MetaindexBlock   // "metaindex block"
	FilterBlock      BlockKind = tablefile.FilterBlock      // "filter block": one filter for each 2 KiB of data blocks
	TableFilterBlock BlockKind = tablefile.TableFilterBlock // "table filter block": one filter for the whole table
	PropertiesBlock  BlockKind = tablefile.PropertiesBlock  // "properties block"
	DigestBlock      BlockKind = tablefile.DigestBlock      // "digest block": see DataDigest of table.WriterOptions
	NeverBlock       BlockKind = tablefile.NeverBlock       // "exceptions block": see Never of table.WriterOptions
	MetaBlock        BlockKind = tablefile.MetaBlock        // "meta block": any other block that the metaindex lists
	DataBlock        BlockKind = tablefile.DataBlock        // "data block"
)

// A Handle is the location of a block in the file. Index and metaindex entries and the footer store it as two
// uvarints: offset, then length.
type Handle struct {
	Offset uint64 // of the block, in bytes from the start of the file
	Length uint64 // of the block in the file, in bytes, without the trailer of 5 bytes
}

// An IndexEntry is an entry of the index: a data block and its separator.
type IndexEntry struct {
	Separator []byte // >= all keys of the block, and < all keys of the next; must not be changed
	Handle
}

// A MetaindexEntry is an entry of the metaindex: the name and location of a meta block. Meta blocks are filters,
// properties, and blocks of other engines.
type MetaindexEntry struct {
	Name string // such as "filter.leveldb.BuiltinBloomFilter" or "rocksdb.properties"
	Handle
}

// Kind returns the purpose of the block, which its name tells: a filter, properties, a digest, exceptions, or a MetaBlock.
func (e MetaindexEntry) Kind() BlockKind {
	kind, _ := tablefile.MetaKind([]byte(e.Name))
	return BlockKind(kind)
}

// A Layout describes the locations of a table's blocks in the file. It is safe for concurrent use.
type Layout struct {
	Footer    int64        // offset of the footer, the last 48 bytes of the file
	FooterErr error        // corruption in the footer that does not affect lookups, or nil
	Metaindex Handle       // from the footer
	Index     Handle       // from the footer
	Data      []IndexEntry // the data blocks, in the order of the file; nil from Tail of table.Reader

	file    *tablefile.File
	filters func(m tablefile.Metaindex, s *tablefile.Scratch) (Filters, error)
}

// New is for package table. It returns the Layout of a file, without Data. filters opens the filters that the metaindex
// lists.
func New(f *tablefile.File, filters func(m tablefile.Metaindex, s *tablefile.Scratch) (Filters, error)) *Layout {
	return &Layout{
		Footer: int64(f.FooterOffset), FooterErr: f.FooterErr,
		Metaindex: Handle(f.Footer.Metaindex), Index: Handle(f.Footer.Index), file: f, filters: filters,
	}
}

// ReadData is for package table. It sets Data, and reads the index unless it is in memory.
func (l *Layout) ReadData() error {
	f := l.file
	return f.Mapped.Guard(func() error {
		if f.HandsOut() || f.Index.N == 0 {
			f.DropIndex()
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

// Ends returns the first data block and the last two, or all if there are fewer. It does not need Data. If the index is
// corrupt, it returns none.
func (l *Layout) Ends() (ends []IndexEntry, err error) {
	err = l.file.Mapped.Guard(func() error {
		x := l.file.Index
		for i := 0; i < x.N; i = max(i+1, x.N-2) {
			h, err := x.Handle(i)
			if err != nil {
				return err
			}
			ends = append(ends, IndexEntry{bytes.Clone(x.Separator(i)), Handle(h)})
		}
		return nil
	})
	return ends, err
}

// Meta reads the metaindex and returns its entries in the order of their names: "filter." and a policy's name for a
// filter block, "fullfilter." and a name for a table filter, "rocksdb.properties", "sievetable.digest" for the digest of
// the data blocks, and "sievetable.never" for exceptions.
func (l *Layout) Meta() (entries []MetaindexEntry, err error) {
	err = l.file.WithMetaindex(func(m tablefile.Metaindex) error {
		for _, e := range m {
			if e.Err != nil {
				return e.Err
			}
			entries = append(entries, MetaindexEntry{string(e.Name), Handle(e.Handle)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Filters reads the filters that a Reader with the same policies would check. It returns the usable filters, and an
// I/O error or, like Reader.FilterErr, the reason why others are not used. In a mapped file, filters are parts of
// the file.
func (l *Layout) Filters() (filters Filters, err error) {
	err = l.file.WithMetaindex(func(m tablefile.Metaindex) (err error) {
		filters, err = l.filters(m, new(tablefile.Scratch))
		return err
	})
	return filters, err
}

// ReadBlock reads the block at h. It returns its decompressed contents, which the caller owns, and the compression id
// from its trailer. If the block is corrupt, the error is a *table.CorruptionError.
func (l *Layout) ReadBlock(h Handle) (contents []byte, compression byte, err error) {
	err = l.file.Mapped.Guard(func() (err error) {
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
	if l.file.Index.Overlaps(tablefile.Handle(h)) {
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
// withData reports whether there is a digest block. Without it, two tables with the same keys and different values
// can have the same TailSum. See DataDigest of table.WriterOptions.
//
// TailSum reads the metaindex, the digest block and the trailers, but no data. Like checksums, it detects accidents,
// not attacks.
func (l *Layout) TailSum() (sum [sha256.Size]byte, withData bool, err error) {
	err = l.file.WithMetaindex(func(m tablefile.Metaindex) (err error) {
		sum, withData, err = l.file.TailSum(m)
		return err
	})
	return sum, withData, err
}
