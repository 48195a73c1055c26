package table

import "io"

// A tailReader reads a file, and has the end of it in memory.
type tailReader struct {
	io.ReaderAt
	offset int64 // of tail in the file
	tail   []byte
}

// readTail reads the last n bytes of r, which has size bytes, and returns a source that has
// them in memory. If the read fails it returns r: the parts of the file are then read one
// by one, and an error is about the part that cannot be read.
func readTail(r io.ReaderAt, size, n int64) io.ReaderAt {
	if n == 0 {
		return r
	}
	t := tailReader{ReaderAt: r, tail: make([]byte, min(n, size, maxReadSize))}
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
