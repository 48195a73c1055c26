package tablefile

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// MaxMetaBlocks bounds how many entries of a metaindex are read. Engines write far fewer.
const MaxMetaBlocks = 1000

// A Metaindex has the entries of the metaindex block, in the order of their names.
type Metaindex []MetaEntry

// A MetaEntry is the name of a meta block, and its handle as it is stored: MetaHandle checks it.
type MetaEntry struct{ Name, Handle []byte }

// ReadMetaindex reads the metaindex, which is valid until s is used for another block. It is in the bytewise order,
// whatever the order of the keys is.
func (f *File) ReadMetaindex(s *Scratch) (Metaindex, error) {
	h := f.Footer.Metaindex
	contents, err := f.ReadBlock(MetaindexBlock, h, s)
	if err != nil {
		return nil, err
	}
	s.meta, s.key = s.meta[:0], s.key[:0]
	memory := f.Allow(metaindexKeyBudget)
	budget := encoded.Budget{Memory: memory}
	err = encoded.Walk(contents, encoded.Order{}, &budget, func(name []byte, shared int, handle []byte) error {
		if len(s.meta) == MaxMetaBlocks {
			return errTooManyMetaBlocks
		}
		if shared > 0 { // it is in memory of Walk
			if memory -= len(name); memory < 0 {
				return errTooManyMetaBlocks
			}
			n := len(s.key)
			s.key = append(s.key, name...)
			name = s.key[n:]
		}
		s.meta = append(s.meta, MetaEntry{name, handle})
		return nil
	})
	if err != nil {
		return nil, f.Damaged(MetaindexBlock, h, err)
	}
	return s.meta, nil
}

// errTooManyMetaBlocks is the error for a metaindex that lists too much.
var errTooManyMetaBlocks = fmt.Errorf("more than %d entries, or names that are too long together", MaxMetaBlocks)

// CheckNames checks that names are not too long together to be copied.
func (f *File) CheckNames(m Metaindex) error {
	left := f.Allow(metaindexKeyBudget)
	for _, e := range m {
		if left -= len(e.Name); left < 0 {
			return f.Damaged(MetaindexBlock, f.Footer.Metaindex, errTooManyMetaBlocks)
		}
	}
	return nil
}

// CheckNoData checks that an index without entries is an index. If a table has no filter, its metaindex has no entries,
// and a footer with the two handles swapped would read as that of an empty table. But the metaindex would then list
// separators, which are not names of meta blocks.
func (f *File) CheckNoData(m Metaindex) error {
	if f.Index.n > 0 {
		return nil
	}
	for _, e := range m {
		if !format.MetaName.Match(e.Name) {
			return f.Corrupt(IndexBlock, f.Footer.Index, "no entries, but the metaindex has %s, which is no meta block: the two handles may be swapped", wire.Quote(e.Name))
		}
	}
	return nil
}

// MetaHandle decodes the handle of an entry, and checks that the block does not overlap data blocks, the index or the
// metaindex.
func (f *File) MetaHandle(kind Kind, stored []byte) (Handle, error) {
	h, _, err := DecodeHandle(stored, f.FooterOffset)
	if err != nil {
		return h, f.Damaged(MetaindexBlock, f.Footer.Metaindex, err)
	}
	if _, data := f.Index.Overlapping(h); data || h.Overlaps(f.Footer.Metaindex) || h.Overlaps(f.Footer.Index) {
		return h, f.Corrupt(kind, h, "overlaps another block")
	}
	return h, nil
}

// FindMeta returns the handle that the metaindex has for the name of a block of that kind, or a zero Handle if it does
// not have the name.
func (f *File) FindMeta(m Metaindex, kind Kind, name string) (Handle, error) {
	for _, e := range m {
		if string(e.Name) == name {
			return f.MetaHandle(kind, e.Handle)
		}
	}
	return Handle{}, nil
}
