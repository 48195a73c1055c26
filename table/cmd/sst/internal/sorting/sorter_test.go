package sorting

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lanrat/extsort"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// Whatever memory there is, the chunks that can be in it together take no more, and so
// many pairs as the help says are merged with 64 MiB of the library's buffers, the least
// of which have 4 KiB.
func TestLimits(t *testing.T) {
	t.Parallel()
	const pairs, buffers = 400e6, 64 << 20 / (4 << 10)
	for _, memory := range []int64{1, minMemory, 64<<20 - 1, 64 << 20, 256 << 20, maxMemory, 1 << 60} {
		l := Options{Memory: memory}.limits()
		if got := int64(l.chunks()) * int64(l.chunkRecords) * int64(l.maxInline+recordOverhead); got > max(memory, minMemory) {
			t.Errorf("%d bytes: %+v take %d", memory, l, got)
		}
		if got := pairs / l.chunkRecords; got > buffers {
			t.Errorf("%d bytes: %d chunks of %+v, want at most %d", memory, got, l, buffers)
		}
	}
}

// The library has no more chunks in memory than limits say, also when the disk is slow.
func TestChunksInMemory(t *testing.T) {
	t.Parallel()
	for _, l := range []limits{{chunkRecords: 10, workers: 1}, {chunkRecords: 10, workers: 2}, {chunkRecords: 10, workers: 4}} {
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
			most = max(most, n+1-int(saved.Load())/l.chunkRecords*l.chunkRecords)
		}
		close(in)
		for range sorted {
		}
		if err := <-failed; err != nil || most > l.chunks()*l.chunkRecords {
			t.Errorf("%+v: %d records were in memory, want at most %d chunks; %v", l, most, l.chunks(), err)
		}
	}
}

// Keys that records have the start of only are compared whole, where their start does not
// tell in which order they are.
func TestSortInAnOrderThatIsNotBytewise(t *testing.T) {
	t.Parallel()
	byLength := func(a, b []byte) int { return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b)) }
	var pairs []input.Pair
	for i := range 200 {
		pairs = append(pairs, input.Pair{Key: bytes.Repeat([]byte{byte('z' - i%7)}, 300*(i*37%200))})
	}
	shuffled := slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b input.Pair) int { return byLength(a.Key, b.Key) })
	i := 0
	for r, err := range Sort(context.Background(), each(shuffled), Options{Compare: byLength, NotBytewise: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Key, pairs[i].Key) {
			t.Fatalf("record %d has a key of %d bytes, want %d", i, len(r.Key), len(pairs[i].Key))
		}
		i++
	}
	if i != len(pairs) {
		t.Errorf("%d records, want %d", i, len(pairs))
	}
}
