package table_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// The bytes of a small table, to read along with the documentation of the file format.
func TestLayout(t *testing.T) {
	t.Parallel()
	var s strings.Builder
	for _, tt := range []struct {
		name string
		o    table.WriterOptions
		keys []string
	}{
		{"no entries", table.WriterOptions{}, nil},
		{"no entries, with filter", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, nil},
		{
			"two blocks, with filter",
			table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: 32, Compression: table.NoCompression},
			[]string{"apple", "apply", "banana"},
		},
	} {
		fmt.Fprintf(&s, "%s:\n%s\n", tt.name, hex.Dump(build(t, &tt.o, pairsOf(tt.keys...))))
	}
	golden.Text(t, "layout.golden", s.String())
}

func TestAppendRefusesDisorder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, second string }{{"b", "a"}, {"b", "b"}, {"", ""}, {"b", ""}, {"aa", "a"}} {
		for _, blockSize := range []int{4096, 1} { // within a block, and across two blocks
			w := newWriter(t, io.Discard, &table.WriterOptions{BlockSize: blockSize})
			noError(t, w.Append([]byte(tt.first), nil))
			err := w.Append([]byte(tt.second), nil)
			checkError(t, "Append", err, table.ErrOrder, fmt.Sprintf("%q after %q", tt.second, tt.first))
			if again, closing := w.Append([]byte("z"), nil), w.Close(); again != err || closing != err {
				t.Errorf("after the error, Append = %v and Close = %v, want the error itself", again, closing)
			}
		}
	}
}

func TestWriterAfterTheEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*table.Writer) error{"Close": (*table.Writer).Close, "Abort": (*table.Writer).Abort} {
		w := newWriter(t, io.Discard, nil)
		noError(t, end(w))
		checkError(t, "Append after "+name, w.Append([]byte("a"), nil), table.ErrClosed, "")
		checkError(t, "Close after "+name, w.Close(), table.ErrClosed, "")
		noError(t, w.Abort())
	}
}

// The counts and sizes of a Writer, by which an engine decides when to start the next table.
func TestWriterCounts(t *testing.T) {
	t.Parallel()
	w := newWriter(t, io.Discard, &table.WriterOptions{BlockSize: 64, Compression: table.NoCompression})
	size := int64(0)
	for i, p := range numbered(100) {
		noError(t, w.Append(p.Key, p.Value))
		if w.Entries() != i+1 {
			t.Errorf("Entries = %d, want %d", w.Entries(), i+1)
		}
		if w.Size() < size || w.Size() > int64(i+1)*64 {
			t.Errorf("Size = %d after %d entries and %d before", w.Size(), i+1, size)
		}
		size = w.Size()
	}
	if n := w.DataBlocks(); n < 33 || n > 50 {
		t.Errorf("%d data blocks for 100 entries of 30 bytes in blocks of 64", n)
	}
	noError(t, w.Close())
	if w.Size() <= size {
		t.Errorf("Size = %d after Close, %d before", w.Size(), size)
	}
}

// The caller may change its slices after Append.
func TestAppendKeepsNoSlice(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newWriter(t, &out, withBloom)
	key := make([]byte, 8)
	var want []workload.Pair
	for i := range uint64(1000) {
		binary.BigEndian.PutUint64(key, i)
		want = append(want, workload.Pair{Key: bytes.Clone(key), Value: bytes.Clone(key)})
		noError(t, w.Append(key, key))
		clear(key)
	}
	noError(t, w.Close())
	checkLookups(t, open(t, out.Bytes(), nil), want)
}

// oddComparer orders bytewise, with given separators.
type oddComparer struct {
	table.Comparer
	separator, successor string
}

func (c oddComparer) Name() string { return "test.Odd" }
func (c oddComparer) Separator(dst, a, b []byte) []byte {
	return append(dst, c.separator...)
}
func (c oddComparer) Successor(dst, b []byte) []byte {
	return append(dst, c.successor...)
}

func TestWriterChecksSeparators(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		separator, successor string
		want                 string // in the error; "" for none
	}{
		{"b", "d", ""},
		{"bb", "dd", ""},
		{"a", "d", `separator "a"`}, // below the last key
		{"d", "d", `separator "d"`}, // the next key
		{"e", "d", `separator "e"`}, // above it
		{"b", "c", `successor "c"`}, // below the last key
	} {
		o := &table.WriterOptions{Comparer: oddComparer{table.BytewiseComparer, tt.separator, tt.successor}, BlockSize: 1}
		w := newWriter(t, io.Discard, o)
		err := errors.Join(appendAll(w, pairsOf("b", "d")), w.Close())
		if ok := err == nil; ok != (tt.want == "") || !ok && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("separator %q, successor %q: %v; want %q", tt.separator, tt.successor, err, tt.want)
		}
	}
}

// The Writer refuses numbers out of range, and names that no Reader accepts.
func TestWriterRefusesImpossibleOptions(t *testing.T) {
	t.Parallel()
	bloom := filter.NewBloom(10)
	for _, o := range []table.WriterOptions{
		{BlockSize: -1}, {BlockSize: 1<<29 + 1}, {RestartInterval: -1}, {RestartInterval: math.MinInt},
		{FilterBaseLg: -1}, {FilterBaseLg: 31}, {Concurrency: -1}, {Concurrency: 1025},
		{FilterPolicy: filter.Rename(bloom, strings.Repeat("n", 1025))},
		{Comparer: longNamed{}, Properties: true},
		{FilterPolicy: tooManyNames{}, TableFilterPolicy: filter.NewTableBloom(10)},
	} {
		if w, err := table.NewWriter(io.Discard, &o); err == nil || w != nil {
			t.Errorf("NewWriter(%+v) = %v, %v; want nil and an error", o, w, err)
		}
	}
	o := &table.WriterOptions{FilterPolicy: filter.Rename(bloom, strings.Repeat("n", 20_000))} // longer than all may be
	_, err := table.NewWriter(io.Discard, o)
	checkError(t, "a long name", err, nil, "has a name of 20000 bytes")
	checkError(t, "a long name", err, nil, "(maximum 1024)")
	if w, err := table.NewWriter(nil, nil); err == nil || w != nil {
		t.Errorf("NewWriter(nil) = %v, %v; want nil and an error", w, err)
	}
}

// failingWriter accepts n bytes.
type failingWriter struct {
	n   int
	err error
}

func (f *failingWriter) Write(p []byte) (int, error) {
	if len(p) > f.n {
		n := f.n
		f.n = 0
		return n, f.err
	}
	f.n -= len(p)
	return len(p), nil
}

// If the sink fails, at any byte, the Writer returns that error from then on.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk is full")
	size := len(build(t, nil, numbered(100)))
	for n := range size {
		w := newWriter(t, &failingWriter{n, cause}, nil)
		err := appendAll(w, numbered(100))
		closing := w.Close()
		if !errors.Is(closing, cause) || err != nil && closing != err {
			t.Fatalf("sink that fails at byte %d: Append = %v, Close = %v; want the sink's error", n, err, closing)
		}
	}
}

// A sink that returns a wrong count without an error.
func TestSinkThatMiscountsIsAShortWrite(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-1, 0, 1, 1 << 30} {
		w := newWriter(t, lyingWriter(n), nil)
		err := w.Append([]byte("k"), bytes.Repeat([]byte("0123456789"), 100_000))
		checkError(t, fmt.Sprintf("Close after Append = %v to a sink that says it wrote %d", err, n), w.Close(), io.ErrShortWrite, "")
	}
}

type lyingWriter int

func (l lyingWriter) Write(p []byte) (int, error) { return int(l), nil }

// If a policy or a FilterKey panics, and the caller recovers, the table is not completed, and no file is left.
func TestWriterAfterAPanic(t *testing.T) {
	t.Parallel()
	bloom := filter.NewBloom(10)
	noB := func(key []byte) []byte {
		if string(key) == "b" {
			panic("no b")
		}
		return key
	}
	for in, o := range map[string]*table.WriterOptions{
		"Create": {FilterPolicy: (*filter.Bloom)(nil)},
		"Append": {FilterPolicy: bloom, FilterKey: noB},
		"Close":  {FilterPolicy: panickingPolicy{bloom}},
	} {
		dir := t.TempDir()
		var w *table.Writer
		if panicOf(func() {
			w, _ = table.Create(filepath.Join(dir, "a.ldb"), o)
			appendAll(w, pairsOf("a", "b"))
			w.Close()
		}) == nil {
			t.Errorf("%s does not panic", in)
		}
		if in != "Create" && (w.Append([]byte("c"), nil) == nil || w.Close() == nil) {
			t.Errorf("after a panic in %s: no error", in)
		}
		checkDir(t, dir)
	}
}

type panickingPolicy struct{ filter.Policy }

func (panickingPolicy) NewGenerator() filter.Generator { return panickingGenerator{} }

type panickingGenerator struct{}

func (panickingGenerator) Add([]byte)             {}
func (panickingGenerator) Generate(filter.Buffer) { panic("no filter") }

// heapSink measures the memory in use at each large write.
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

// copying is a codec that does not compress.
type copying struct{ table.Codec }

func (copying) ID() byte { return 77 }

// Values much larger than blocks do not accumulate, however many goroutines encode them: one is being appended and
// two encoded, each with up to two copies.
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
		noError(t, w.Append([]byte{byte(i)}, value))
	}
	noError(t, w.Close())
	got := (sink.most - base.most) >> 20
	t.Logf("%d MiB for values of %d", got, size>>20)
	if got > 6*size>>20 {
		t.Errorf("%d MiB for values of %d", got, size>>20)
	}
	runtime.KeepAlive(value)
}

// Consecutive Writers reuse the output buffer.
func TestWritersShareABuffer(t *testing.T) {
	if long.Race {
		t.Skip("with the race detector, pools drop things at random")
	}
	pairs := numbered(10_000)
	const writers = 20
	allocated := filtertest.AllocatedBy(func() {
		for range writers {
			w := newWriter(t, io.Discard, nil)
			noError(t, errors.Join(appendAll(w, pairs), w.Close()))
		}
	})
	if got := allocated / writers; got > 128<<10 {
		t.Errorf("a Writer allocates %d bytes, want at most 128 KiB", got)
	}
}

// The pending bytes, by which Size lags behind, are bounded, but enough to keep all goroutines busy.
func TestConcurrencyBoundsMemory(t *testing.T) {
	for _, tt := range []struct{ value, atLeast, atMost int }{
		{1 << 10, 1 << 20, 3 << 20},
		{1 << 20, 3 << 20, 6 << 20},
	} {
		w := newWriter(t, io.Discard, &table.WriterOptions{Compression: copying{table.NoCompression}, Concurrency: 8})
		lag := 0
		for i := range 40 << 20 / tt.value {
			noError(t, w.Append(fmt.Appendf(nil, "%05d", i), make([]byte, tt.value)))
			if lag = (i+1)*tt.value - int(w.Size()); lag > tt.atMost {
				t.Fatalf("values of %d bytes: %d bytes under way, want at most %d", tt.value, lag, tt.atMost)
			}
		}
		if lag < tt.atLeast {
			t.Errorf("values of %d bytes: %d bytes under way at last, want at least %d", tt.value, lag, tt.atLeast)
		}
		noError(t, w.Abort())
	}
}

// Append allocates only for index and filter, and for pending blocks, and nothing for separators.
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
					noError(t, w.Append(key, value))
					next += 5 << 16 // leaves room for a shorter separator
				}
			}
			for range concurrency { // until all pending blocks have memory
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
					noError(b, errors.Join(appendAll(w, pairs), w.Close()))
				}
			})
		}
	}
}
