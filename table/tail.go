package table

import (
	"io"
	"sync"
)

// A tailReader reads a file, and has the end of it in memory.
type tailReader struct {
	io.ReaderAt
	offset int64 // of tail in the file
	tail   []byte
}

// A fileTail is the end of a file. Most tables of up to smallFile bytes have their index and their filters
// there. Those of a larger one would not fit, and to read them at once saves little.
type fileTail [8 << 10]byte

const smallFile = 256 << 10

var fileTails = sync.Pool{New: func() any { return new(fileTail) }}

// readTail reads the last bytes of r, which has size bytes, into memory, and returns a source that has
// them there. If the read fails it returns r: the parts of the file are then read one
// by one, and an error is about the part that cannot be read.
func readTail(r io.ReaderAt, size int64, memory []byte) io.ReaderAt {
	t := tailReader{ReaderAt: r, tail: memory[:min(int64(len(memory)), size)]}
	t.offset = size - int64(len(t.tail))
	if got, err := r.ReadAt(t.tail, t.offset); got != len(t.tail) || err != nil && err != io.EOF {
		return r
	}
	return t
}

// ReadAt reads from tail, or from the file if not all of p is in tail.
func (t tailReader) ReadAt(p []byte, off int64) (int, error) {
	if off < t.offset || int64(len(p)) > t.offset+int64(len(t.tail))-off {
		return t.ReaderAt.ReadAt(p, off)
	}
	return copy(p, t.tail[off-t.offset:]), nil
}
