package table

import "io"

// tailReader reads a file of which it has the end.
type tailReader struct {
	io.ReaderAt
	at   int64 // where the end starts
	tail []byte
}

// readTail returns a source that has the last n bytes of r, which has size bytes:
// all that opening a small table takes, or one with a large n, is one read then. If
// that read fails it returns r, so that the parts are read one by one, and one that
// cannot be read is named.
func readTail(r io.ReaderAt, size, n int64) io.ReaderAt {
	if n == 0 {
		return r
	}
	t := tailReader{ReaderAt: r, tail: make([]byte, min(n, size, maxAtOnce))}
	t.at = size - int64(len(t.tail))
	if got, err := r.ReadAt(t.tail, t.at); got != len(t.tail) || err != nil && err != io.EOF {
		return r
	}
	return t
}

// ReadAt reads from the end that it has, or what is not within that from the file.
func (t tailReader) ReadAt(p []byte, off int64) (int, error) {
	if off < t.at || int64(len(p)) > t.at+int64(len(t.tail))-off {
		return t.ReaderAt.ReadAt(p, off)
	}
	return copy(p, t.tail[off-t.at:]), nil
}
