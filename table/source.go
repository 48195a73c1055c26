package table

import (
	"context"
	"io"
	"os"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// A ContextReaderAt is a source whose reads can be ended by a context, such as one in an object
// store. What takes a context reads it by ReadAtContext. What takes none may use either method.
type ContextReaderAt interface {
	io.ReaderAt

	// ReadAtContext is ReadAt, but when ctx is done it returns an error soon. It must be safe
	// for concurrent use.
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// A SliceReaderAt is a source that can hand out its bytes, such as a file that is mapped into
// memory, or [Bytes]. A Reader of it copies neither the filters nor an uncompressed index, and searches
// uncompressed data blocks where they lie. NewReader then reads the footer only: the rest is read, and its
// damage is found, by the first method that needs it.
type SliceReaderAt interface {
	io.ReaderAt

	// Slice returns the n bytes at offset off. The Reader does not change them. They must stay
	// readable as long as the Reader, an Iter or another method of it can use them. If they
	// change, answers can be wrong. It must be safe for concurrent use.
	Slice(off int64, n int) ([]byte, error)
}

// Bytes returns b, a table in memory, as a source for NewReader. The bytes must not change.
func Bytes(b []byte) SliceReaderAt { return tablefile.Bytes(b) }

// MapFile maps a file of size bytes into memory, and returns it as a source for [NewReader]. It is for
// programs that open their files themselves: others set [ReaderOptions].Mapped, which says how a mapped
// file is read. The caller may close f. The memory is unmapped when nothing has the source any more, and
// no Reader of it is in use: keep the source as long as you use what its Slice returns.
//
// Give NewReader the source itself. If another type wraps it, a read of what was cut off the file ends
// the program. MapFile returns nil if the file cannot be mapped, or if too many are, as Mapped says.
// Then read the file.
func MapFile(f *os.File, size int64) SliceReaderAt {
	if m := tablefile.Map(f, size); m != nil {
		return m
	}
	return nil
}
