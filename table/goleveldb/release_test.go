package goleveldb_test

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/table/goleveldb"
)

// A closableFile must not be read after Close.
type closableFile struct {
	io.ReaderAt
	closed atomic.Bool
	late   atomic.Int64 // reads after Close
}

func (f *closableFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.ReaderAt.ReadAt(p, off)
	if f.closed.Load() {
		f.late.Add(1)
	}
	return n, err
}

func (f *closableFile) Close() error {
	f.closed.Store(true)
	return nil
}

// Release waits for reads and closes the file. Lookups and iterators in other goroutines then fail.
func TestReleaseWhileReading(t *testing.T) {
	t.Parallel()
	c := tableCases()[3]
	entries := c.entries(300)
	contents := theirTable(t, &c.o, entries)
	for range 20 {
		f := &closableFile{ReaderAt: bytes.NewReader(contents)}
		r, err := goleveldb.NewReader(f, int64(len(contents)), fd, nil, nil, &c.o)
		noError(t, err)
		var began, users sync.WaitGroup
		for u := range 4 {
			began.Add(1)
			users.Go(func() {
				began.Done()
				for i := u; ; i++ {
					e := entries[i%len(entries)]
					got, err := r.Get(e.key, nil)
					it := r.NewIterator(nil, nil)
					ok, itErr := it.Seek(e.key), it.Error()
					it.Release()
					if err == goleveldb.ErrReaderReleased && !ok && itErr == err {
						return
					}
					if err != nil && err != goleveldb.ErrReaderReleased || err == nil && !bytes.Equal(got, e.value) {
						t.Errorf("Get(%q) = %q, %v", e.key, got, err)
						return
					}
				}
			})
		}
		began.Wait()
		r.Release()
		if !f.closed.Load() {
			t.Error("Release has not closed the file")
		}
		users.Wait()
		if n := f.late.Load(); n > 0 {
			t.Errorf("the file was read %d times after Close", n)
		}
	}
}
