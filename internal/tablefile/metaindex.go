package tablefile

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
)

// Engines write far fewer entries into a metaindex, and far shorter names.
const (
	maxMetaBlocks = 1000
	maxNames      = 1 << 20 // bytes of all names
)

// A Metaindex contains the entries of the metaindex block, sorted by name.
type Metaindex []MetaEntry

// A MetaEntry is an entry of the metaindex.
type MetaEntry struct {
	Handle
	Err    error // why the handle is invalid
	Name   []byte
	Kind   Kind
	Policy []byte // name of a filter's policy
}

// ReadMetaindex reads the metaindex. The result is valid until s is used for another metaindex. A metaindex is in the
// bytewise order, whatever the order of the keys.
func (f *File) ReadMetaindex(s *Scratch) (Metaindex, error) {
	h := f.Footer.Metaindex
	contents, err := f.ReadBlock(MetaindexBlock, h, s)
	if err != nil {
		return nil, err
	}
	s.names, s.meta = s.names[:0], s.meta[:0]
	err = format.Walk(contents, true, maxNames, func(name, stored []byte) error {
		if len(s.meta) == maxMetaBlocks || len(name) > maxNames-len(s.names) {
			return errTooManyMetaBlocks
		}
		s.names = append(s.names, name...)
		e := MetaEntry{Name: s.names[len(s.names)-len(name):]}
		e.Kind, e.Policy = MetaKind(e.Name)
		e.Handle, e.Err = f.metaHandle(e.Kind, stored)
		s.meta = append(s.meta, e)
		return nil
	})
	if err != nil {
		return nil, f.Damaged(MetaindexBlock, h, err)
	}
	return s.meta, nil
}

// errTooManyMetaBlocks is the error for a metaindex that is too long.
var errTooManyMetaBlocks = fmt.Errorf("more than %d entries, or names that are too long together", maxMetaBlocks)

// WithMetaindex reads the metaindex and calls use with it.
func (f *File) WithMetaindex(use func(m Metaindex) error) error {
	return f.Mapped.Guard(func() error {
		m, err := f.ReadMetaindex(new(Scratch))
		if err != nil {
			return err
		}
		return use(m)
	})
}

// CheckNoData checks that an index without entries really is one. The metaindex of a table without filters has no
// entries, so if the footer's two handles are swapped, the table looks empty. The metaindex then lists separators,
// which are not names of meta blocks.
func (f *File) CheckNoData(m Metaindex) error {
	for _, e := range m {
		if !format.MetaName.Match(e.Name) {
			return f.Corrupt(IndexBlock, f.Footer.Index, "no entries, but the metaindex has %s, which is not a meta block: "+
				"the two handles may be swapped", format.Quote(e.Name))
		}
	}
	return nil
}

// MetaKind returns the kind of the meta block called name and, for a filter, the name of its policy.
func MetaKind(name []byte) (kind Kind, policy []byte) {
	switch string(name) {
	case format.PropertiesName, format.PrefixName:
		return PropertiesBlock, nil
	case format.DigestName:
		return DigestBlock, nil
	case format.NeverName:
		return NeverBlock, nil
	}
	if policy, found := bytes.CutPrefix(name, []byte(format.FilterPrefix)); found {
		return FilterBlock, policy
	}
	if policy, found := bytes.CutPrefix(name, []byte(format.TableFilterPrefix)); found {
		return TableFilterBlock, policy
	}
	return MetaBlock, nil
}

// metaHandle decodes the stored handle of a metaindex entry, and checks that the block does not overlap data blocks,
// the index or the metaindex.
func (f *File) metaHandle(kind Kind, stored []byte) (Handle, error) {
	h, _, err := DecodeHandle(stored, f.FooterOffset)
	if err != nil {
		return h, f.Damaged(MetaindexBlock, f.Footer.Metaindex, err)
	}
	if f.Index.Overlaps(h) || h.Overlaps(f.Footer.Metaindex) || h.Overlaps(f.Footer.Index) {
		return h, f.Corrupt(kind, h, "overlaps another block")
	}
	return h, nil
}

// TailSum returns a fingerprint of the table, and whether it covers the data blocks: see layout.Layout.TailSum.
func (f *File) TailSum(m Metaindex) (sum [sha256.Size]byte, withData bool, err error) {
	var digest Handle
	blocks := make([]Handle, len(m), len(m)+2)
	for i, e := range m {
		if blocks[i] = e.Handle; e.Err != nil {
			return sum, false, e.Err
		}
		if string(e.Name) == format.DigestName {
			digest = blocks[i]
		}
	}
	tail := sha256.New()
	for _, h := range append(blocks, f.Footer.Metaindex, f.Footer.Index) {
		var trailer [format.TrailerLen]byte
		if err := f.read(noContext, MetaBlock, trailer[:], h.End()-format.TrailerLen); err != nil {
			return sum, false, err
		}
		tail.Write(trailer[:])
	}
	if withData = digest.Length > 0; withData {
		contents, err := f.ReadDigest(digest)
		if err != nil {
			return sum, false, err
		}
		tail.Write(contents)
	}
	tail.Write(f.Footer.Append(nil))
	tail.Sum(sum[:0])
	return sum, withData, nil
}

// ReadDigest returns the contents of the digest block.
func (f *File) ReadDigest(h Handle) ([]byte, error) {
	if h.Length != sha256.Size {
		return nil, f.Corrupt(DigestBlock, h, "%d bytes, not a SHA-256 of %d", h.Length, sha256.Size)
	}
	s := Scratch{copies: true}
	id, err := f.ReadStored(DigestBlock, h, &s)
	if err == nil && id != 0 {
		err = f.Corrupt(DigestBlock, h, "compression id is %d, not 0", id)
	}
	if err != nil {
		return nil, err
	}
	return s.block[:h.Length], nil
}

// CheckTailSum checks that the table's TailSum is want, and returns the metaindex, which uses memory of s.
func (f *File) CheckTailSum(want [sha256.Size]byte, s *Scratch) (Metaindex, error) {
	m, err := f.ReadMetaindex(s)
	if err != nil {
		return nil, err
	}
	got, _, err := f.TailSum(m)
	if err == nil && got != want {
		err = f.Corrupt(FooterBlock, f.FooterHandle(),
			"TailSum is %x, not %x: this is another table, or it was replaced", got, want)
	}
	return m, err
}
