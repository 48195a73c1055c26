package sorting

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// Whatever memory there is, the chunks that can be in it together take no more, and so
// many pairs as the help says are merged with 64 MiB of the library's buffers, the least
// of which have 4 KiB.
func TestLimits(t *testing.T) {
	t.Parallel()
	const pairs, buffers = 400e6, 64 << 20 / (4 << 10)
	for _, memory := range []int64{1, minMemory, 64<<20 - 1, 64 << 20, 256 << 20, 4 << 30, 1 << 60} {
		l := Options{Memory: memory}.limits()
		if got := int64(l.chunks) * int64(l.chunkSize+blockLen); got > max(memory, minMemory) {
			t.Errorf("%d bytes: %+v take %d", memory, l, got)
		}
		records := l.chunkSize / (headerLen + l.maxInline + recordRefLen)
		if got := pairs / records; got > buffers {
			t.Errorf("%d bytes: %d chunks of %+v, want at most %d", memory, got, l, buffers)
		}
	}
}

// More memory makes larger chunks, however much there is.
func TestLimitsGrow(t *testing.T) {
	t.Parallel()
	for memory := int64(minMemory); memory < 1<<30; memory *= 2 {
		less, more := Options{Memory: memory}.limits(), Options{Memory: 2 * memory}.limits()
		if more.chunkSize < 2*less.chunkSize {
			t.Errorf("%d bytes: %+v, and with twice as much: %+v", memory, less, more)
		}
	}
}

// A chunk takes no more memory than it may, whatever sizes the records have, and uses most of it.
func TestChunkSize(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	rng := rand.New(rand.NewPCG(7, 7))
	for name, size := range map[string]func(size int) int{
		"empty":             func(int) int { return 0 },
		"large":             func(int) int { return 1024 },
		"all":               func(int) int { return rng.IntN(1025) },
		"small, then large": func(size int) int { return size / (limit / 2) * 1024 },
		"large, then small": func(size int) int { return 1024 - size/(limit/2)*1024 },
	} {
		var c chunk
		for n := headerLen; c.fits(n, limit); n = headerLen + size(c.size) {
			c.add(n)
		}
		took := len(c.blocks)*blockLen + cap(c.refs)*int(unsafe.Sizeof(recordRef{}))
		if took > limit+blockLen || took < limit*3/4 {
			t.Errorf("%s: %d records take %d bytes, want at most %d", name, len(c.refs), took, limit)
		}
	}
}

// There are never more chunks in memory than may be, however slow sorting is.
func TestChunksInMemory(t *testing.T) {
	t.Parallel()
	const perChunk = 4
	const chunkSize = perChunk * (headerLen + 200 + recordRefLen)
	for _, l := range []limits{
		{maxInline: 256, chunkSize: chunkSize, chunks: 1, workers: 1},
		{maxInline: 256, chunkSize: chunkSize, chunks: 2, workers: 4},
		{maxInline: 256, chunkSize: chunkSize, chunks: 6, workers: 2},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			release, done, n := make(chan bool), make(chan error, 1), 0
			compare := func(a, b []byte) int { <-release; return bytes.Compare(a, b) }
			s := startSorter(t.Context(), Options{Compare: compare, Dir: dir}, l)
			defer s.close()
			go func() {
				done <- s.addAll(func(yield func(input.Pair, error) bool) {
					for n < 100 && yield(input.Pair{Key: make([]byte, 200)}, nil) {
						n++
					}
				})
			}()
			synctest.Wait()
			if n > l.chunks*perChunk {
				t.Errorf("%+v: %d records are in memory, want at most %d", l, n, l.chunks*perChunk)
			}
			close(release)
			if err := <-done; err != nil || n != 100 {
				t.Errorf("%+v: %d records, %v", l, n, err)
			}
		})
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
