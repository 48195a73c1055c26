package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// heapSink looks at the memory in use at each large write.
type heapSink struct{ most uint64 }

func (s *heapSink) Write(p []byte) (int, error) {
	if len(p) > 1<<20 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		s.most = max(s.most, m.HeapAlloc)
	}
	return len(p), nil
}

// copying is a codec that makes nothing smaller.
type copying struct{ table.Codec }

func (copying) ID() byte { return 77 }

// Values that are much larger than blocks are not gathered, however many goroutines may
// encode them: one is appended, and two are encoded, each of which is there up to twice.
func TestMemoryOfHugeValues(t *testing.T) {
	long.NoRace(t)
	const size, n = 8 << 20, 12
	value := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(value)
	var base heapSink
	base.Write(value)
	sink := new(heapSink)
	w := newWriter(t, sink, &table.WriterOptions{Concurrency: 8, Compression: copying{table.NoCompression}})
	for i := range n {
		if err := w.Append([]byte{byte(i)}, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := (sink.most - base.most) >> 20
	t.Logf("%d MiB for values of %d", got, size>>20)
	if got > 6*size>>20 {
		t.Errorf("%d MiB for values of %d", got, size>>20)
	}
	runtime.KeepAlive(value)
}

// Writers that come one after the other share the buffer of what is written.
func TestWritersShareABuffer(t *testing.T) {
	if long.Race {
		t.Skip("with the race detector, pools drop things at random")
	}
	pairs := numbered(10_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const writers = 20
	for range writers {
		w := newWriter(t, io.Discard, nil)
		if err := errors.Join(appendAll(w, pairs), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / writers; got > 128<<10 {
		t.Errorf("a Writer allocates %d bytes, want at most 128 KiB", got)
	}
}

// What is under way is bounded in bytes too: Size lags behind by that. But it is
// enough to keep all goroutines busy.
func TestConcurrencyBoundsMemory(t *testing.T) {
	for _, tt := range []struct{ value, atLeast, atMost int }{
		{1 << 10, 1 << 20, 3 << 20},
		{1 << 20, 3 << 20, 6 << 20},
	} {
		w := newWriter(t, io.Discard, &table.WriterOptions{Compression: copying{table.NoCompression}, Concurrency: 8})
		lag := 0
		for i := range 40 << 20 / tt.value {
			if err := w.Append(fmt.Appendf(nil, "%05d", i), make([]byte, tt.value)); err != nil {
				t.Fatal(err)
			}
			if lag = (i+1)*tt.value - int(w.Size()); lag > tt.atMost {
				t.Fatalf("values of %d bytes: %d bytes under way, want at most %d", tt.value, lag, tt.atMost)
			}
		}
		if lag < tt.atLeast {
			t.Errorf("values of %d bytes: %d bytes under way at last, want at least %d", tt.value, lag, tt.atLeast)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}
}

// Appending takes no memory beyond index and filter, and what blocks need that are
// under way: neither do separators.
func TestAppendAllocations(t *testing.T) {
	for _, order := range []table.Comparer{table.BytewiseComparer, table.InternalComparer(nil)} {
		for _, concurrency := range []int{1, 4} {
			w := newWriter(t, io.Discard, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Concurrency: concurrency, Comparer: order})
			const n = 10_000
			key, value := make([]byte, 8+8), bytes.Repeat([]byte("v"), 100)
			next := uint64(0)
			round := func() {
				for range n {
					binary.BigEndian.PutUint64(key, next)
					if err := w.Append(key, value); err != nil {
						t.Fatal(err)
					}
					next += 5 << 16 // leaves room for a shorter separator
				}
			}
			for range concurrency { // until there is memory for all that is under way
				round()
			}
			if allocs := testing.AllocsPerRun(10, round); allocs > n/1000 {
				t.Errorf("%s, %d goroutines: %v allocations for %d entries, want at most one in a thousand", order.Name(), concurrency, allocs, n)
			}
		}
	}
}

// BenchmarkWriter writes tables to a sink that discards them. MB/s are of keys and
// values.
func BenchmarkWriter(b *testing.B) {
	pairs := w1Pairs(200_000)
	size := 0
	for _, p := range pairs {
		size += len(p.Key) + len(p.Value)
	}
	for _, codec := range []table.Codec{table.NoCompression, table.Snappy} {
		for _, concurrency := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("codec=%d/concurrency=%d", codec.ID(), concurrency), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					w := newWriter(b, io.Discard, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec, Concurrency: concurrency})
					if err := errors.Join(appendAll(w, pairs), w.Close()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
