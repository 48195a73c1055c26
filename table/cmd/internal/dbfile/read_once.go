package dbfile

import (
	"bytes"
	"io"
	"sync"
)

// wholeFile is how large a table may be to be read at once.
const wholeFile = 4 << 20

// maxKept is the largest read that is kept until the check. What is larger, such as the filter of a large table, is
// read twice: its memory would come on top of what the check takes.
const maxKept = 16 << 20

// A readOnce reads a table that will be checked completely. It keeps what is read to open the table, up to
// maxKept bytes of each read, so that the check does not read that again. One goroutine at a time may use it.
type readOnce struct {
	io.ReaderAt
	size     int64
	count    func(n int64)    // is called with the bytes that the check reads
	memory   *[wholeFile]byte // nil for a large table
	whole    *bytes.Reader    // in memory: the table; nil: it is read part by part
	kept     []extent         // each is kept until the check has read it
	checking bool
}

// An extent is a part of a file.
type extent struct {
	offset int64
	bytes  []byte
}

// wholeFiles are memory for one small table after the other.
var wholeFiles = sync.Pool{New: func() any { return new([wholeFile]byte) }}

// newReadOnce returns a source of the table of size bytes in r. tail is how many bytes there may be behind the
// data blocks, or 0 if that is unknown. If what it reads ahead cannot be read, the error comes again for the
// part that is needed.
func newReadOnce(r io.ReaderAt, size, tail int64, count func(int64)) *readOnce {
	o := &readOnce{ReaderAt: r, size: size, count: count}
	if size <= wholeFile {
		o.memory = wholeFiles.Get().(*[wholeFile]byte)
		if p := o.memory[:size]; readFull(r, p, 0) {
			o.whole = bytes.NewReader(p)
		}
	} else if tail > 0 && tail <= min(size, maxKept) {
		if p := make([]byte, tail); readFull(r, p, size-tail) {
			o.kept = append(o.kept, extent{size - tail, p})
		}
	}
	return o
}

// readFull fills p, and reports whether that succeeded.
func readFull(r io.ReaderAt, p []byte, off int64) bool {
	_, err := io.ReadFull(io.NewSectionReader(r, off, int64(len(p))), p)
	return err == nil
}

// close gives the memory back. It does nothing for nil.
func (o *readOnce) close() {
	if o == nil || o.memory == nil {
		return
	}
	wholeFiles.Put(o.memory)
	o.memory, o.whole = nil, nil
}

// startCheck says that the table is open. It does nothing for nil.
func (o *readOnce) startCheck() {
	if o != nil {
		o.checking = true
	}
}

// ReadAt reads from memory, or from the file.
func (o *readOnce) ReadAt(p []byte, off int64) (int, error) {
	if o.whole != nil {
		return o.whole.ReadAt(p, off)
	}
	end := min(off+int64(len(p)), o.size)
	for i, e := range o.kept {
		if off < e.offset || off > end || end > e.offset+int64(len(e.bytes)) {
			continue
		}
		n, err := bytes.NewReader(e.bytes).ReadAt(p, off-e.offset)
		if o.checking {
			o.kept[i] = extent{}
		}
		return n, err
	}
	n, err := o.ReaderAt.ReadAt(p, off)
	if o.checking {
		o.count(int64(n))
	} else if n == len(p) && n <= maxKept {
		o.kept = append(o.kept, extent{off, append([]byte(nil), p...)})
	}
	return n, err
}
