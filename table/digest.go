package table

import (
	"bytes"
	"hash"

	"github.com/sievetable/sievetable/internal/tablefile"
)

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
