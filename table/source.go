package table

import (
	"context"
	"io"
	"os"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// A ContextReaderAt is a source whose reads end when a context is done, for example in an object store. Methods with
// a context use ReadAtContext. Others may use either method.
type ContextReaderAt interface {
	io.ReaderAt

	// ReadAtContext is like ReadAt, and returns soon when ctx is done. It must be safe for concurrent use.
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// A SliceReaderAt is a source that hands out its bytes, such as [Bytes] or a mapped file. Readers use them in place,
// and read parts other than the footer when they are first needed.
type SliceReaderAt interface {
	io.ReaderAt

	// Slice returns the n bytes at offset off. They must stay readable and unchanged while a Reader uses them. It
	// must be safe for concurrent use.
	Slice(off int64, n int) ([]byte, error)
}

// Bytes returns a source for a table in memory, which must not change.
func Bytes(b []byte) SliceReaderAt { return tablefile.Bytes(b) }

// MapFile maps a file of size bytes as a source for NewReader, as [ReaderOptions].Mapped does for Open. The caller
// may close f. The memory is unmapped when source and Readers are unreachable. If the file cannot be mapped, MapFile
// returns nil: read it then. Do not wrap the source: if the file is truncated, reads would crash the program.
func MapFile(f *os.File, size int64) SliceReaderAt {
	if m := tablefile.Map(f, size); m != nil {
		return m
	}
	return nil
}
