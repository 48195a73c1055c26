package table

import (
	"bytes"
	"crypto/sha256"
	"hash"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
)

// TailSum returns what tells the table apart from others: the SHA-256 of
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
	defer l.file.mapped.leave(l.file.mapped.enter(), &err)
	m, err := l.file.readMetaindex(new(buffers))
	if err != nil {
		return sum, false, err
	}
	return l.file.tailSum(m)
}

// tailSum is TailSum.
func (f *tableFile) tailSum(m metaindex) (sum [sha256.Size]byte, withData bool, err error) {
	tail := sha256.New()
	digest, err := f.hashMetaTrailers(tail, m)
	if err != nil {
		return sum, false, err
	}
	for _, h := range []Handle{f.footer.metaindex, f.footer.index} {
		if err := f.hashTrailer(tail, h); err != nil {
			return sum, false, err
		}
	}
	if withData = digest.Length > 0; withData {
		contents, err := f.readDigest(digest)
		if err != nil {
			return sum, false, err
		}
		tail.Write(contents)
	}
	tail.Write(f.footer.append(nil))
	tail.Sum(sum[:0])
	return sum, withData, nil
}

// hashMetaTrailers adds the trailers of the blocks that the metaindex lists. It returns the handle
// of the digest block, which is zero if there is none.
func (f *tableFile) hashMetaTrailers(to hash.Hash, m metaindex) (digest Handle, err error) {
	for _, e := range m {
		h, err := f.metaHandle(MetaBlock, e.handle)
		if err == nil {
			err = f.hashTrailer(to, h)
		}
		if err != nil {
			return digest, err
		}
		if string(e.name) == format.DigestName {
			digest = h
		}
	}
	return digest, nil
}

// hashTrailer adds the trailer of the block at h.
func (f *tableFile) hashTrailer(to hash.Hash, h Handle) error {
	var t trailer
	offset := h.end() - format.TrailerLen
	n, err := f.src.ReadAt(t[:], int64(offset))
	if err := f.endRead(MetaBlock, t[:], offset, n, err); err != nil {
		return err
	}
	to.Write(t[:])
	return nil
}

// readDigest returns the contents of the digest block.
func (f *tableFile) readDigest(h Handle) ([]byte, error) {
	if h.Length != sha256.Size {
		return nil, f.corrupt(DigestBlock, h, "%d bytes, want a SHA-256 of %d", h.Length, sha256.Size)
	}
	b := buffers{copies: true}
	id, err := f.readStored(DigestBlock, h, &b)
	if err == nil && id != NoCompression.ID() {
		err = f.corrupt(DigestBlock, h, "compression id %d, want 0", id)
	}
	if err != nil {
		return nil, err
	}
	return b.block[:h.Length], nil
}

// checkTailSum checks that the table has that TailSum, and returns the metaindex, which is in b. If it
// is zero, checkTailSum does nothing.
func (f *tableFile) checkTailSum(want [sha256.Size]byte, b *buffers) (metaindex, error) {
	if want == ([sha256.Size]byte{}) {
		return nil, nil
	}
	m, err := f.readMetaindex(b)
	if err != nil {
		return nil, err
	}
	got, _, err := f.tailSum(m)
	if err == nil && got != want {
		err = f.corrupt(FooterBlock, f.footerHandle(), "TailSum of the table is %x, want %x: it is another table than was expected, or was replaced", got, want)
	}
	return m, err
}

// addToDigest adds the trailer of a data block, which buf ends with.
func (w *Writer) addToDigest(buf []byte) {
	if w.digest != nil {
		w.digest.Write(lastTrailer(buf))
	}
}

// writeDigest writes the digest block, if DataDigest is set, and lists it in the metaindex.
func (w *Writer) writeDigest(meta *block.Writer) error {
	if w.digest == nil {
		return nil
	}
	b, err := w.writeRaw(w.digest.Sum(nil), DigestBlock)
	if err != nil {
		return err
	}
	return w.list(meta, format.DigestName, b)
}

// finishTailSum sets tailSum. All trailers are in tail.
func (w *Writer) finishTailSum(f footer) {
	if w.digest != nil {
		w.tail = w.digest.Sum(w.tail)
	}
	w.tailSum = sha256.Sum256(f.append(w.tail))
}

// A digestVerifier compares the digest block with the data blocks.
type digestVerifier struct {
	sum    hash.Hash // of the trailers of the data blocks
	listed bool      // want is set, and all data blocks before are sound
	want   []byte    // the contents of the digest block
	handle Handle    // of the digest block
}

// read reads the digest block.
func (v *digestVerifier) read(t *openTable, h Handle) (err error) {
	v.want, err = t.readDigest(h)
	v.handle, v.listed = h, err == nil
	return err
}

// check compares the two, when all data blocks were read.
func (v *digestVerifier) check(t *openTable) error {
	if got := v.sum.Sum(nil); v.listed && !bytes.Equal(got, v.want) {
		return t.corrupt(DigestBlock, v.handle, "it has %x, want %x, the SHA-256 of the data blocks' trailers: data blocks are those of another table", v.want, got)
	}
	return nil
}
