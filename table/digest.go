package table

import (
	"bytes"
	"crypto/sha256"
	"hash"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

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
func (w *Writer) finishTailSum(f tablefile.Footer) {
	if w.digest != nil {
		w.tail = w.digest.Sum(w.tail)
	}
	w.tailSum = sha256.Sum256(f.Append(w.tail))
}

// A digestVerifier compares the digest block with the data blocks.
type digestVerifier struct {
	sum    hash.Hash        // of the trailers of the data blocks
	listed bool             // want is set, and all data blocks before are sound
	want   []byte           // the contents of the digest block
	handle tablefile.Handle // of the digest block
}

// read reads the digest block.
func (v *digestVerifier) read(t *openTable, h tablefile.Handle) (err error) {
	v.want, err = t.file.ReadDigest(h)
	v.handle, v.listed = h, err == nil
	return err
}

// check compares the two, when all data blocks were read.
func (v *digestVerifier) check(t *openTable) error {
	if got := v.sum.Sum(nil); v.listed && !bytes.Equal(got, v.want) {
		return t.file.Corrupt(tablefile.DigestBlock, v.handle, "it has %x, want %x, the SHA-256 of the data blocks' trailers: data blocks are those of another table", v.want, got)
	}
	return nil
}
