package engine

import (
	"bytes"
	"io"
	"runtime"
	"sync/atomic"
)

// A CountingReaderAt counts the reads of a table.
type CountingReaderAt struct {
	io.ReaderAt
	Reads atomic.Int64
}

// ReadAt reads and counts.
func (c *CountingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	c.Reads.Add(1)
	return c.ReaderAt.ReadAt(p, off)
}

// Source returns the contents to read from, and what counts the reads if the
// mode is Counting.
func Source(contents []byte, m Mode) (io.ReaderAt, *CountingReaderAt) {
	if m != Counting {
		return bytes.NewReader(contents), nil
	}
	c := &CountingReaderAt{ReaderAt: bytes.NewReader(contents)}
	return c, c
}

// HeapOf returns how many bytes of Go's heap what open returns takes.
func HeapOf(open func() (io.Closer, error)) (int64, error) {
	before := heap()
	c, err := open()
	if err != nil {
		return 0, err
	}
	after := heap()
	return after - before, c.Close()
}

// heap returns the live bytes of Go's heap. What finalizers and pools hold is
// only free after a second collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
