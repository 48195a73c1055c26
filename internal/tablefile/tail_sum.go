package tablefile

import (
	"crypto/sha256"
	"hash"

	"github.com/sievetable/sievetable/internal/format"
)

// TailSum returns what tells the table apart from others, and whether it covers the data blocks: see
// table.Layout.TailSum.
func (f *File) TailSum(m Metaindex) (sum [sha256.Size]byte, withData bool, err error) {
	tail := sha256.New()
	digest, err := f.hashMetaTrailers(tail, m)
	if err != nil {
		return sum, false, err
	}
	for _, h := range []Handle{f.Footer.Metaindex, f.Footer.Index} {
		if err := f.hashTrailer(tail, h); err != nil {
			return sum, false, err
		}
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

// hashMetaTrailers adds the trailers of the blocks that the metaindex lists. It returns the handle of the digest block,
// which is zero if there is none.
func (f *File) hashMetaTrailers(to hash.Hash, m Metaindex) (digest Handle, err error) {
	for _, e := range m {
		h, err := f.MetaHandle(MetaBlock, e.Handle)
		if err == nil {
			err = f.hashTrailer(to, h)
		}
		if err != nil {
			return digest, err
		}
		if string(e.Name) == format.DigestName {
			digest = h
		}
	}
	return digest, nil
}

// hashTrailer adds the trailer of the block at h.
func (f *File) hashTrailer(to hash.Hash, h Handle) error {
	var t [format.TrailerLen]byte
	if err := f.readAt(MetaBlock, t[:], h.End()-format.TrailerLen); err != nil {
		return err
	}
	to.Write(t[:])
	return nil
}

// ReadDigest returns the contents of the digest block.
func (f *File) ReadDigest(h Handle) ([]byte, error) {
	if h.Length != sha256.Size {
		return nil, f.Corrupt(DigestBlock, h, "%d bytes, want a SHA-256 of %d", h.Length, sha256.Size)
	}
	s := Scratch{copies: true}
	id, err := f.ReadStored(DigestBlock, h, &s)
	if err == nil && id != 0 {
		err = f.Corrupt(DigestBlock, h, "compression id %d, want 0", id)
	}
	if err != nil {
		return nil, err
	}
	return s.block[:h.Length], nil
}

// CheckTailSum checks that the table has that TailSum, and returns the metaindex, which is in s. If it is zero,
// CheckTailSum does nothing.
func (f *File) CheckTailSum(want [sha256.Size]byte, s *Scratch) (Metaindex, error) {
	if want == ([sha256.Size]byte{}) {
		return nil, nil
	}
	m, err := f.ReadMetaindex(s)
	if err != nil {
		return nil, err
	}
	got, _, err := f.TailSum(m)
	if err == nil && got != want {
		err = f.Corrupt(FooterBlock, f.FooterHandle(), "TailSum of the table is %x, want %x: it is another table than was expected, or was replaced", got, want)
	}
	return m, err
}
