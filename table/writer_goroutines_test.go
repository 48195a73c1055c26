package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// countingCodec counts calls of Encode, each of which takes a while. The first ones take until as many
// goroutines call it at a time as together says.
type countingCodec struct {
	table.Codec
	calls, active, most *atomic.Int64
	together            int64
	met                 context.Context // is done then, or after hang
	meet                context.CancelFunc
}

func newCountingCodec(t *testing.T, together int) countingCodec {
	met, meet := context.WithTimeout(t.Context(), hang)
	t.Cleanup(meet)
	return countingCodec{table.Snappy, new(atomic.Int64), new(atomic.Int64), new(atomic.Int64), int64(together), met, meet}
}

func (c countingCodec) Encode(dst, src []byte) []byte {
	c.calls.Add(1)
	active := c.active.Add(1)
	defer c.active.Add(-1)
	for most := c.most.Load(); active > most; most = c.most.Load() {
		if c.most.CompareAndSwap(most, active) && active == c.together {
			c.meet()
		}
	}
	<-c.met.Done()
	time.Sleep(100 * time.Microsecond)
	return c.Codec.Encode(dst, src)
}

// As many goroutines encode at a time as the options say, and no more.
func TestConcurrencyBoundsGoroutines(t *testing.T) {
	for _, concurrency := range []int{2, 3, 8} {
		c := newCountingCodec(t, concurrency)
		build(t, &table.WriterOptions{Compression: c, Concurrency: concurrency}, w1Pairs(20_000))
		if most := c.most.Load(); most != int64(concurrency) {
			t.Errorf("%d goroutines encode at a time, want %d", most, concurrency)
		}
	}
}

// When Close or Abort returns, no goroutine is left that calls the codec: also after an
// error, and with jobs that nobody has begun.
func TestNoGoroutineOutlivesTheWriter(t *testing.T) {
	full := errors.New("disk is full")
	for _, tt := range []struct {
		name string
		room int // bytes that the sink takes
		end  func(*table.Writer) error
		want error
	}{
		{"Close", 1 << 30, (*table.Writer).Close, nil},
		{"Close after an error", 300_000, (*table.Writer).Close, full},
		{"Abort", 1 << 30, (*table.Writer).Abort, nil},
		{"Abort after an error", 300_000, (*table.Writer).Abort, nil},
	} {
		c := newCountingCodec(t, 1)
		w, err := table.NewWriter(&failingWriter{tt.room, full}, &table.WriterOptions{Compression: c, Concurrency: 4})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range w1Pairs(20_000) {
			if w.Append(p.Key, p.Value) != nil {
				break
			}
		}
		if err := tt.end(w); !errors.Is(err, tt.want) {
			t.Errorf("%s = %v, want %v", tt.name, err, tt.want)
		}
		calls := c.calls.Load()
		if active := c.active.Load(); active > 0 {
			t.Errorf("%s: %d goroutines encode still", tt.name, active)
		}
		awaitWorkers(t)
		if more := c.calls.Load() - calls; more > 0 {
			t.Errorf("%s: %d blocks are encoded afterwards", tt.name, more)
		}
	}
}

// A Writer that is dropped after an error, without Close, leaves no goroutine behind.
func TestDroppedWriterLeavesNoGoroutine(t *testing.T) {
	pairs := w1Pairs(50_000)
	for range 10 {
		full := errors.New("disk is full")
		w, err := table.NewWriter(&failingWriter{100_000, full}, &table.WriterOptions{Concurrency: 4})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			if err = w.Append(p.Key, p.Value); err != nil {
				break
			}
		}
		if !errors.Is(err, full) {
			t.Fatalf("Append = %v, want %v", err, full)
		}
	}
	awaitWorkers(t)
}

// awaitWorkers waits until no goroutine encodes for a Writer.
func awaitWorkers(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(hang); ; time.Sleep(time.Millisecond) {
		stacks, left := goroutinesOf("encodeQueue")
		if !left {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("goroutines are left:\n%s", stacks)
		}
	}
}

// goroutinesOf returns the stacks of all goroutines, and whether a function of that name is in one.
func goroutinesOf(function string) (stacks []byte, found bool) {
	stacks = make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return stacks, bytes.Contains(stacks, []byte(function))
}

// hang is how long a test waits for what comes in no time. It is far more than any stall takes.
const hang = 5 * time.Minute

// wholeKeys is a policy that keeps keys as they are: other ones than Bloom filters take
// keys of any length to their offsets.
type wholeKeys struct{ filter.Policy }

func (wholeKeys) Name() string                   { return "test.WholeKeys" }
func (wholeKeys) NewGenerator() filter.Generator { return new(wholeKeysGenerator) }

type wholeKeysGenerator struct{ keys []byte }

func (g *wholeKeysGenerator) Add(key []byte) { g.keys = fmt.Appendf(g.keys, "%q", key) }

func (g *wholeKeysGenerator) Generate(b filter.Buffer) {
	b.Write(g.keys)
	g.keys = g.keys[:0]
}

// Of any options and entries, the bytes are the same with any number of goroutines.
func TestConcurrencyWritesTheSameBytesOfAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 5))
	rounds := 60
	if long.Race {
		rounds = 15
	}
	for range rounds {
		o := anyOptions(rng)
		o.Concurrency = 1
		o.Compression = pick[table.Codec](rng, table.Snappy, copying{table.NoCompression})
		if rng.IntN(3) == 0 {
			o.FilterPolicy = wholeKeys{filter.NewBloom(10)}
		}
		pairs := anyPairs(rng, o.Comparer)
		want := build(t, &o, pairs)
		many := o
		many.Concurrency = 2 + rng.IntN(8)
		if got := build(t, &many, pairs); !bytes.Equal(got, want) {
			t.Errorf("%+v: %d entries: %d bytes, %d by one goroutine, and others", many, len(pairs), len(got), len(want))
		}
	}
}

// anyPairs returns entries of any length, among them long ones.
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
