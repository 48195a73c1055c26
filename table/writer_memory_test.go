package table_test

import (
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

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
	w, err := table.NewWriter(sink, &table.WriterOptions{Concurrency: 8, Compression: copying{table.NoCompression}})
	if err != nil {
		t.Fatal(err)
	}
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
		w, err := table.NewWriter(io.Discard, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			if err := w.Append(p.Key, p.Value); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / writers; got > 128<<10 {
		t.Errorf("a Writer allocates %d bytes, want at most 128 KiB", got)
	}
}
