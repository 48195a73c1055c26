package extern

import (
	"cmp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanrat/extsort"
)

// Whatever memory there is, the chunks that can be in it together take no more, and so
// many pairs as the help says are merged with 64 MiB of the library's buffers, the least
// of which have 4 KiB.
func TestLimits(t *testing.T) {
	const pairs, buffers = 400e6, 64 << 20 / (4 << 10)
	for _, memory := range []int64{1, leastMemory, 64<<20 - 1, 64 << 20, 256 << 20, mostMemory, 1 << 60} {
		l := Options{Memory: memory}.limits()
		if got := int64(l.chunks()) * int64(l.chunk) * int64(l.inline+entryLen); got > max(memory, leastMemory) {
			t.Errorf("%d bytes: %+v take %d", memory, l, got)
		}
		if got := pairs / l.chunk; got > buffers {
			t.Errorf("%d bytes: %d chunks of %+v, want at most %d", memory, got, l, buffers)
		}
	}
}

// The library has no more chunks in memory than limits say, also when the disk is slow.
func TestChunksInMemory(t *testing.T) {
	for _, l := range []limits{{chunk: 10, workers: 1}, {chunk: 10, workers: 2}, {chunk: 10, workers: 4}} {
		in := make(chan int)
		var saved atomic.Int64
		toDisk := func(int) ([]byte, error) {
			time.Sleep(50 * time.Microsecond)
			saved.Add(1)
			return nil, nil
		}
		sorting, sorted, failed := extsort.Generic(in, func([]byte) (int, error) { return 0, nil }, toDisk, cmp.Compare, l.config(t.TempDir()))
		go sorting.Sort(t.Context())
		most := 0
		for n := range 300 {
			in <- n
			most = max(most, n+1-int(saved.Load())/l.chunk*l.chunk)
		}
		close(in)
		for range sorted {
		}
		if err := <-failed; err != nil || most > l.chunks()*l.chunk {
			t.Errorf("%+v: %d records were in memory, want at most %d chunks; %v", l, most, l.chunks(), err)
		}
	}
}
