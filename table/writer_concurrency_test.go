package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// w1Pairs returns n of W1's entries.
func w1Pairs(n int) []workload.Pair {
	set := workload.W1(n)
	var pairs []workload.Pair
	for i, k := range set.Keys {
		pairs = append(pairs, workload.Pair{Key: k, Value: set.Values[i]})
	}
	return pairs
}

// However many goroutines encode blocks, the table has the same bytes.
func TestConcurrencyWritesTheSameBytes(t *testing.T) {
	t.Parallel()
	one := pairsOf("a")
	huge := []workload.Pair{{Key: []byte("a")}, {Key: []byte("b"), Value: make([]byte, 5<<20)}, {Key: []byte("c")}}
	falling := w1Pairs(5000)
	slices.Reverse(falling)
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		pairs []workload.Pair
	}{
		{"no entries", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, nil},
		{"one entry", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, one},
		{"many blocks", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, w1Pairs(50_000)},
		{"uncompressed", table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression}, w1Pairs(20_000)},
		{"no filter", table.WriterOptions{}, w1Pairs(20_000)},
		{"a huge value", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, huge},
		{"parts of keys in the filter", table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterKey: everySecond, BlockSize: 100}, w1Pairs(5000)},
		{"an order that is not bytewise", table.WriterOptions{Comparer: descendingComparer{}}, falling},
	} {
		want := build(t, &tt.o, tt.pairs)
		for _, concurrency := range []int{2, 3, 8} {
			o := tt.o
			o.Concurrency = concurrency
			if !bytes.Equal(build(t, &o, tt.pairs), want) {
				t.Errorf("%s: %d goroutines write other bytes than one", tt.name, concurrency)
			}
		}
	}
}

// everySecond is a FilterKey that leaves out every other key.
func everySecond(key []byte) []byte {
	if key[len(key)-1]%2 == 0 {
		return nil
	}
	return key[:len(key)-1]
}

// Size does not depend on how far other goroutines are, so that tables are cut at the
// same entries in each run.
func TestConcurrencyKeepsSizeSteady(t *testing.T) {
	t.Parallel()
	pairs := w1Pairs(20_000)
	sizes := func() (all []int64) {
		w, err := table.NewWriter(io.Discard, &table.WriterOptions{Concurrency: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			if err := w.Append(p.Key, p.Value); err != nil {
				t.Fatal(err)
			}
			all = append(all, w.Size())
		}
		return all
	}
	first := sizes()
	if diff := cmp.Diff(first, sizes()); diff != "" {
		t.Errorf("sizes (-first +second):\n%s", diff)
	}
	if last := first[len(first)-1]; last == 0 {
		t.Error("Size stays 0 for 20,000 entries")
	}
}

// panickingCodec panics when it is to encode.
type panickingCodec struct{ table.Codec }

func (panickingCodec) Encode(dst, src []byte) []byte { panic("no encoding") }

// panicOf returns what f panics with, or nil.
func panicOf(f func() error) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// A codec's panic reaches the goroutine that appends, and ends the Writer.
func TestConcurrentCodecPanics(t *testing.T) {
	t.Parallel()
	w, err := table.NewWriter(io.Discard, &table.WriterOptions{Compression: panickingCodec{table.Snappy}, Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got any
	for _, p := range w1Pairs(50_000) {
		if got = panicOf(func() error { return w.Append(p.Key, p.Value) }); got != nil {
			break
		}
	}
	if got != "no encoding" {
		t.Fatalf("Append panics with %v, want the codec's panic", got)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "panicked") {
		t.Errorf("Close = %v, want an error about the panic", err)
	}
}

// An error of the sink ends a Writer whose blocks are still under way.
func TestConcurrentWriteFails(t *testing.T) {
	t.Parallel()
	for _, room := range []int{0, 300_000, 1_000_000} {
		full := errors.New("disk is full")
		w, err := table.NewWriter(&failingWriter{room, full}, &table.WriterOptions{Concurrency: 4, FilterPolicy: filter.NewBloom(10)})
		if err != nil {
			t.Fatal(err)
		}
		var failed error
		for _, p := range w1Pairs(50_000) {
			if failed = w.Append(p.Key, p.Value); failed != nil {
				break
			}
		}
		if err := w.Close(); !errors.Is(err, full) || failed != nil && err != failed {
			t.Errorf("room for %d bytes: Append = %v, Close = %v; want the sink's error", room, failed, err)
		}
	}
}

// Abandoned, or given up at any point, a Writer leaves no file and no goroutine
// that waits for it.
func TestConcurrentAbort(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		name := t.TempDir() + "/a.ldb"
		w, err := table.Create(name, &table.WriterOptions{Concurrency: 1 + n%5})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n * 1000 {
			if err := w.Append(fmt.Appendf(nil, "%08d", i), make([]byte, 50)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}
}

type endingCodec struct{ table.Codec }

func (endingCodec) Encode(dst, src []byte) []byte {
	runtime.Goexit() // as t.Fatal does
	return nil
}

// A codec that ends its goroutine leaves no table behind, and nobody waiting.
func TestConcurrentCodecEndsGoroutine(t *testing.T) {
	t.Parallel()
	w, err := table.NewWriter(io.Discard, &table.WriterOptions{Compression: endingCodec{table.Snappy}, Concurrency: 3})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan any)
	go func() {
		var r any
		defer func() { done <- r }()
		defer func() { r = recover() }()
		for _, p := range w1Pairs(50_000) {
			if err := w.Append(p.Key, p.Value); err != nil {
				return
			}
		}
	}()
	<-done
	if err := w.Close(); err == nil {
		t.Error("Close: no error")
	}
}

// A codec that ends a worker, and works in the Writer's goroutine, leaves no table either.
func TestConcurrentCodecEndsWorker(t *testing.T) {
	t.Parallel()
	ended := make(chan bool)
	var once sync.Once
	endOnce := func() {
		once.Do(func() {
			defer close(ended)
			runtime.Goexit()
		})
	}
	w, err := table.NewWriter(io.Discard, &table.WriterOptions{Compression: callingCodec{table.Snappy, endOnce}, Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	pairs := w1Pairs(1000)
	first := pairs[:300] // the first job, which the Writer does not encode: none is due
	for _, p := range first {
		if err := w.Append(p.Key, p.Value); err != nil {
			t.Fatal(err)
		}
	}
	<-ended
	for _, p := range pairs[len(first):] {
		if err := w.Append(p.Key, p.Value); err != nil {
			t.Fatal(err)
		}
	}
	if got := panicOf(w.Close); !strings.Contains(fmt.Sprint(got), "panicked") {
		t.Errorf("Close panics with %v, want an error about an earlier panic", got)
	}
	if err := w.Close(); err == nil {
		t.Error("a second Close: no error")
	}
}

// callingCodec calls f before it encodes.
type callingCodec struct {
	table.Codec
	f func()
}

func (c callingCodec) Encode(dst, src []byte) []byte {
	c.f()
	return c.Codec.Encode(dst, src)
}

// What is under way is bounded in bytes too: Size lags behind by that. But it is
// enough to keep all goroutines busy.
func TestConcurrencyBoundsMemory(t *testing.T) {
	for _, tt := range []struct{ value, atLeast, atMost int }{
		{1 << 10, 1 << 20, 3 << 20},
		{1 << 20, 3 << 20, 6 << 20},
	} {
		w, err := table.NewWriter(io.Discard, &table.WriterOptions{Compression: incompressible{table.Snappy}, Concurrency: 8})
		if err != nil {
			t.Fatal(err)
		}
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

// incompressible is a codec that makes nothing smaller.
type incompressible struct{ table.Codec }

func (incompressible) Encode(dst, src []byte) []byte { return append(dst, src...) }
