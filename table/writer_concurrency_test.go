package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// everySecond is a FilterKey without every other key.
func everySecond(key []byte) []byte {
	if key[len(key)-1]%2 == 0 {
		return nil
	}
	return key[:len(key)-1]
}

// wholeKeys is a policy that is not Bloom, so jobs keep its whole keys, of any length, instead of hashes.
type wholeKeys struct{ filter.Policy }

func (wholeKeys) Name() string                   { return "test.WholeKeys" }
func (wholeKeys) NewGenerator() filter.Generator { return new(wholeKeysGenerator) }

type wholeKeysGenerator struct{ keys []byte }

func (g *wholeKeysGenerator) Add(key []byte) { g.keys = fmt.Appendf(g.keys, "%q", key) }

func (g *wholeKeysGenerator) Generate(b filter.Buffer) {
	b.Write(g.keys)
	g.keys = g.keys[:0]
}

// For any options and entries, the table has the same bytes, however many goroutines encode blocks.
func TestConcurrencyWritesTheSameBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 5))
	rounds := 60
	if long.Race {
		rounds = 15
	}
	for range rounds {
		o := anyOptions(rng)
		o.Concurrency = 1
		o.Compression = pick[table.Codec](rng, table.Snappy, table.NoCompression, copying{table.NoCompression})
		if rng.IntN(3) == 0 {
			o.FilterPolicy = wholeKeys{filter.NewBloom(10)}
		}
		if rng.IntN(3) == 0 {
			o.FilterKey = everySecond
		}
		pairs := anyPairs(rng, o.Comparer)
		pairs = pairs[:min(len(pairs), pick(rng, 0, 1, 3000, 3000, 3000))]
		if n := len(pairs); n > 0 && rng.IntN(5) == 0 {
			pairs[rng.IntN(n)].Value = make([]byte, 5<<20)
		}
		want := build(t, &o, pairs)
		many := o
		many.Concurrency = 2 + rng.IntN(8)
		if got := build(t, &many, pairs); !bytes.Equal(got, want) {
			t.Errorf("%+v: %d entries: %d bytes, %d by one goroutine, and others", many, len(pairs), len(got), len(want))
		}
	}
}

// anyPairs returns entries of any length, some of them long.
func anyPairs(rng *rand.Rand, order table.Comparer) []workload.Pair {
	value := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	s := shape{n: rng.IntN(3000), key: numberedKey(6 + rng.IntN(300))}
	if rng.IntN(2) == 0 {
		s.key = func(i int) string { return fmt.Sprintf("%06d%s", i, strings.Repeat("k", i*i%1000)) }
	}
	pairs := s.pairs(order)
	for i := range pairs {
		most := pick(rng, 10, 100, 1000)
		if rng.IntN(500) == 0 {
			most = len(value)
		}
		pairs[i].Value = value[:rng.IntN(most)]
	}
	return pairs
}

// Size does not depend on the progress of other goroutines, so that tables are cut at the same entries in each run.
func TestConcurrencyKeepsSizeSteady(t *testing.T) {
	t.Parallel()
	pairs := w1Pairs(20_000)
	sizes := func() (all []int64) {
		w := newWriter(t, io.Discard, &table.WriterOptions{Concurrency: 3})
		for _, p := range pairs {
			noError(t, w.Append(p.Key, p.Value))
			all = append(all, w.Size())
		}
		return all
	}
	first := sizes()
	checkDiff(t, "second sizes", first, sizes())
	if last := first[len(first)-1]; last == 0 {
		t.Error("Size stays 0 for 20,000 entries")
	}
}

// A callingCodec calls f before it encodes.
type callingCodec struct {
	table.Codec
	f func()
}

func (c callingCodec) Encode(dst, src []byte) []byte {
	c.f()
	return c.Codec.Encode(dst, src)
}

// A codec's panic or runtime.Goexit reaches the goroutine that appends or closes, and ends the Writer.
func TestConcurrentCodecPanics(t *testing.T) {
	var once sync.Once
	for _, tt := range []struct {
		name    string
		f       func()
		entries int
		want    string
	}{
		{"a panic found by Append", func() { panic("no encoding") }, 50_000, "no encoding"},
		{"a panic found by Close", func() { panic("no encoding") }, 1000, "no encoding"},
		{"an end found by Append", runtime.Goexit, 50_000, "panicked"}, // as by t.Fatal
		{"an end found by Close", runtime.Goexit, 1000, "panicked"},
		{"an end of one goroutine", func() { once.Do(runtime.Goexit) }, 1000, "panicked"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWriter(t, io.Discard, &table.WriterOptions{Compression: callingCodec{table.Snappy, tt.f}, Concurrency: 2})
			got := panicOf(func() { appendAll(w, w1Pairs(tt.entries)); w.Close() })
			if !strings.Contains(fmt.Sprint(got), tt.want) {
				t.Errorf("%s: panic %v, want %s", tt.name, got, tt.want)
			}
			checkError(t, tt.name+": Close", w.Close(), nil, "panicked")
		})
	}
}

// A slowCodec counts calls of Encode, each of which takes a while.
type slowCodec struct {
	table.Codec
	calls, active, most *atomic.Int64
}

func newSlowCodec() slowCodec {
	return slowCodec{table.Snappy, new(atomic.Int64), new(atomic.Int64), new(atomic.Int64)}
}

func (c slowCodec) Encode(dst, src []byte) []byte {
	c.calls.Add(1)
	active := c.active.Add(1)
	defer c.active.Add(-1)
	for most := c.most.Load(); active > most && !c.most.CompareAndSwap(most, active); most = c.most.Load() {
	}
	time.Sleep(time.Second) // in a bubble: until all other goroutines wait
	return c.Codec.Encode(dst, src)
}

// Concurrency goroutines encode at a time, and no more.
func TestConcurrencyBoundsGoroutines(t *testing.T) {
	for _, concurrency := range []int{2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			c := newSlowCodec()
			build(t, &table.WriterOptions{Compression: c, Concurrency: concurrency}, w1Pairs(20_000))
			if most := c.most.Load(); most != int64(concurrency) {
				t.Errorf("%d goroutines encode at a time, want %d", most, concurrency)
			}
		})
	}
}

// An error of the sink ends a Writer whose blocks are still being encoded. When Close or Abort returns, no goroutine
// is left that calls the codec, even if some jobs have not started.
func TestNoGoroutineOutlivesTheWriter(t *testing.T) {
	full := errors.New("disk is full")
	for _, room := range []int{0, 300_000, 1_000_000, 1 << 30} { // bytes that the sink takes
		for name, end := range map[string]func(*table.Writer) error{"Close": (*table.Writer).Close, "Abort": (*table.Writer).Abort} {
			synctest.Test(t, func(t *testing.T) {
				c := newSlowCodec()
				w := newWriter(t, &failingWriter{room, full}, &table.WriterOptions{Compression: c, Concurrency: 4, FilterPolicy: filter.NewBloom(10)})
				failed := appendAll(w, w1Pairs(30_000))
				err := end(w)
				switch {
				case name == "Abort" || room == 1<<30:
					if err != nil {
						t.Errorf("%s with room for %d bytes = %v", name, room, err)
					}
				case !errors.Is(err, full) || failed != nil && err != failed:
					t.Errorf("room for %d bytes: Append = %v, Close = %v; want the sink's error", room, failed, err)
				}
				calls, active := c.calls.Load(), c.active.Load()
				time.Sleep(time.Hour)
				if more := c.calls.Load() - calls; active > 0 || more > 0 {
					t.Errorf("%s with room for %d bytes: %d goroutines encode still, and %d blocks are encoded afterwards", name, room, active, more)
				}
			})
		}
	}
}

// A Writer that is dropped without Close leaves no goroutine behind: otherwise the bubble would not end.
func TestDroppedWriterLeavesNoGoroutine(t *testing.T) {
	for _, room := range []int{100_000, 1 << 30} {
		synctest.Test(t, func(t *testing.T) {
			full := errors.New("disk is full")
			w := newWriter(t, &failingWriter{room, full}, &table.WriterOptions{Concurrency: 4})
			if err := appendAll(w, w1Pairs(30_000)); room < 1<<30 && !errors.Is(err, full) {
				t.Errorf("Append = %v, want %v", err, full)
			}
		})
	}
}
