package table_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

func TestReaderRefusesImpossibleOptions(t *testing.T) {
	t.Parallel()
	src := bytes.NewReader(build(t, nil, nil))
	for _, tt := range []struct {
		name string
		src  io.ReaderAt
		size int64
		o    *table.ReaderOptions
	}{
		{"no reader", nil, src.Size(), nil},
		{"negative size", src, -1, nil},
		{"negative TailSize", src, src.Size(), &table.ReaderOptions{TailSize: -1}},
		{"negative MaxBlockSize", src, src.Size(), &table.ReaderOptions{MaxBlockSize: -1}},
		{"MaxBlockSize that leaves no room for a trailer", src, src.Size(), &table.ReaderOptions{MaxBlockSize: math.MaxInt}},
	} {
		if r, err := table.NewReader(tt.src, tt.size, tt.o); err == nil || r != nil {
			t.Errorf("%s: NewReader = %v, %v; want nil and an error", tt.name, r, err)
		}
	}
}

// A table from OpenFS works like one from NewReader, and its file is closed.
func TestOpenFS(t *testing.T) {
	t.Parallel()
	pairs := numbered(300)
	contents := build(t, withBloom, pairs)
	dir := filepath.Dir(writeTable(t, contents))
	damaged := bytes.Clone(contents)
	damaged[len(damaged)-1] ^= 1
	noError(t, os.WriteFile(filepath.Join(dir, "damaged.ldb"), damaged, 0o666))
	fsys := os.DirFS(dir)
	r, err := table.OpenFS(fsys, "t.ldb", nil)
	noError(t, err)
	checkLookups(t, r, pairs)
	noError(t, r.Close())
	if _, err := r.Get(pairs[0].Key); err != table.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	for name, want := range map[string]error{
		"damaged.ldb": table.ErrCorrupt, "none.ldb": fs.ErrNotExist, "../t.ldb": fs.ErrInvalid,
	} {
		checkError(t, "OpenFS", errorOf(table.OpenFS(fsys, name, nil)), want, name)
	}
}

// For files without ReadAt, OpenFS returns an error that says what to do.
func TestOpenFSOfOtherFiles(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	f, err := w.Create("dir/a.ldb")
	noError(t, err)
	_, err = f.Write(build(t, nil, nil))
	noError(t, errors.Join(err, w.Close()))
	z, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	noError(t, err)
	for name, want := range map[string]string{"dir": "open dir: a directory, not a regular file", "dir/a.ldb": "open dir/a.ldb: the file has no method ReadAt: read it"} {
		checkError(t, "OpenFS", errorOf(table.OpenFS(z, name, nil)), nil, want)
	}
}

// Opening takes one read for all parts within the tail, and one for each other part. The tail does not change the
// table.
func TestTailSize(t *testing.T) {
	t.Parallel()
	pairs := numbered(5000)
	contents, w := buildBy(t, withBloom, pairs)
	size, smallest := len(contents), int(w.TailSize())
	for _, tt := range []struct{ tail, reads int }{
		{0, 4},
		{1, 5},
		{48, 4},
		{49, 4},
		{2000, 2}, // all but the filter
		{20_000, 1},
		{smallest - 1, 2},
		{smallest, 1},
		{size - 1, 1},
		{size, 1},
		{size + 1, 1},
		{math.MaxInt, 1},
	} {
		src := &countingReader{ReaderAt: bytes.NewReader(contents)}
		r := newReader(t, src, len(contents), &table.ReaderOptions{TailSize: tt.tail})
		if reads := int(src.n.Load()); reads != tt.reads {
			t.Errorf("tail of %d bytes: %d reads, want %d", tt.tail, reads, tt.reads)
		}
		checkLookups(t, r, pairs[:100])
		checkPairs(t, fmt.Sprintf("tail of %d bytes", tt.tail), pairs, forward(t, r.NewIter(nil)))
		noError(t, errors.Join(r.FilterErr(), r.Verify()))
	}
	if got := newWriter(t, io.Discard, nil).TailSize(); got != 0 {
		t.Errorf("before Close, the Writer's TailSize is %d, want 0", got)
	}
}

// If the tail cannot be read as a whole, it is read in parts, and the error names the part.
func TestTailThatCannotBeReadIsReadInParts(t *testing.T) {
	t.Parallel()
	contents := build(t, withBloom, numbered(5000))
	size := int64(len(contents))
	for bad, want := range map[int64]string{
		100:       "<nil>", // in a data block
		size - 10: fmt.Sprintf("table: reading footer at %d: broken", size-48),
	} {
		src := hooked(contents, func(off, end int64) error {
			if off <= bad && bad < end {
				return errBroken
			}
			return nil
		})
		_, err := table.NewReader(src, size, &table.ReaderOptions{TailSize: len(contents)})
		if fmt.Sprint(err) != want || err != nil && !errors.Is(err, errBroken) {
			t.Errorf("bad sector at %d: %v, want %q", bad, err, want)
		}
	}
}

// For a file that claims to be huge, memory is not allocated for all of it.
func TestTailOfHugeFile(t *testing.T) {
	long.Test(t)
	t.Parallel()
	empty := bytes.NewReader(nil)
	for _, size := range []int64{1000, 1 << 50, math.MaxInt64} {
		_, err := table.NewReader(empty, size, &table.ReaderOptions{TailSize: math.MaxInt})
		checkError(t, fmt.Sprint("size ", size), err, io.ErrUnexpectedEOF, "")
	}
}

// MemorySize agrees with the heap's growth within a tenth, for tables with many and few blocks, with each kind of
// filter, and with a Cache. The test is not parallel, since it measures the heap.
func TestMemorySize(t *testing.T) {
	pairs := numbered(20_000)
	for name, tt := range map[string]struct {
		w table.WriterOptions
		o table.ReaderOptions
	}{
		"no filter":      {},
		"filters":        {w: table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}},
		"small blocks":   {w: table.WriterOptions{FilterPolicy: filter.NewBloom(20), BlockSize: 100}},
		"with a cache":   {w: table.WriterOptions{BlockSize: 200}, o: table.ReaderOptions{Cache: table.NewCache(1)}},
		"ignored filter": {w: table.WriterOptions{FilterPolicy: filter.NewBloom(30)}, o: table.ReaderOptions{IgnoreFilter: true}},
	} {
		contents := build(t, &tt.w, pairs)
		size, heap := heapOf(t, contents, &tt.o)
		if size < heap*9/10-500 || size > heap*11/10+500 {
			t.Errorf("%s: MemorySize = %d, and the heap grew by %d", name, size, heap)
		}
	}
}

// heapOf returns the MemorySize of a Reader, and the growth of the heap for one.
func heapOf(t *testing.T, contents []byte, o *table.ReaderOptions) (size, heap int64) {
	const n = 20
	var readers [n]*table.Reader
	before := settledHeap()
	for i := range readers {
		readers[i] = open(t, contents, o)
		size = readers[i].MemorySize() // after lookups that build the search tree, which it counts
	}
	after := settledHeap()
	runtime.KeepAlive(readers)
	return size, (after - before) / n
}

// settledHeap returns the size of the heap once it no longer shrinks. Pools take two collections, and the memory of
// earlier tests' goroutines is freed when they have ended.
func settledHeap() int64 {
	var m runtime.MemStats
	for last, same := int64(-1), 0; same < 3; last = int64(m.HeapAlloc) {
		runtime.GC()
		runtime.ReadMemStats(&m)
		if same++; int64(m.HeapAlloc) < last-1000 || last < 0 {
			same = 0
		}
	}
	return int64(m.HeapAlloc)
}

// Ten thousand open tables that hand out their bytes take about 1 KB each, even after a lookup.
func TestTenThousandTables(t *testing.T) {
	long.NoRace(t)
	const n = 10_000
	pairs := numbered(2000)
	contents := build(t, withBloom, pairs)
	before := settledHeap()
	readers := make([]*table.Reader, n)
	for i := range readers {
		readers[i] = newReader(t, table.Bytes(contents), len(contents), nil)
		noError(t, errorOf(readers[i].Get(pairs[i%2000].Key)))
	}
	if took := settledHeap() - before; took > n*1500 {
		t.Errorf("%d open tables take %d bytes, want ≤ 1500 for each", n, took)
	}
	runtime.KeepAlive(readers)
}

func TestMetricsStringHasAllCounts(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	counts := reflect.ValueOf(&m).Elem()
	for i := range counts.NumField() {
		counts.Field(i).Addr().Interface().(*atomic.Uint64).Store(uint64(1001 + i))
	}
	got := m.String()
	for i := range counts.NumField() {
		if !strings.Contains(got, fmt.Sprint(1001+i)) {
			t.Errorf("%s = %d is not in %q", counts.Type().Field(i).Name, 1001+i, got)
		}
	}
}

// After a panic of the source, an Iter fails until First, Last or a seek succeeds.
func TestSourceThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	panics := false
	r := openHooked(t, build(t, oneKeyBlocks, pairs), nil, func(_, _ int64) error {
		if panics {
			panic("source")
		}
		return nil
	})
	it := r.NewIter(&table.IterOptions{Upper: pairs[60].Key})
	for _, p := range pairs[:60] {
		it.First()
		panics = true
		panicOf(func() { it.SeekGE(pairs[59].Key) })
		panics = false
		if it.Valid() || it.Next() || it.Prev() || it.Error() == nil {
			t.Fatalf("after a panic: Valid = %v, Error = %v", it.Valid(), it.Error())
		}
		if !it.SeekGE(p.Key) || !bytes.Equal(it.Key(), p.Key) || !bytes.Equal(it.Value(), p.Value) || it.Error() != nil {
			t.Fatalf("SeekGE(%q) after a panic is at %q, %v", p.Key, it.Key(), it.Error())
		}
	}
	checkPairs(t, "after all panics", pairs[:60], forward(t, it))
}

// After a panic of the source, earlier bytes in the read-ahead buffer are not taken for the requested ones.
func TestReadAheadThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	left := -1 // reads before the source panics
	r := openHooked(t, build(t, oneKeyBlocks, pairs), nil, func(_, _ int64) error {
		if left--; left == 0 {
			panic("source")
		}
		return nil
	})
	for reads := 1; reads < 10; reads++ {
		it := r.NewIter(&table.IterOptions{ReadAhead: 400})
		left = reads
		if panicOf(func() { count(it.First, it.Next) }) == nil {
			t.Error("no panic")
		}
		for _, p := range pairs {
			if !it.SeekGE(p.Key) || !bytes.Equal(it.Key(), p.Key) || !bytes.Equal(it.Value(), p.Value) {
				t.Fatalf("after a panic in read %d: SeekGE(%q) is at %q, %v", reads, p.Key, it.Key(), it.Error())
			}
		}
	}
}

// After a panic of the Comparer in a seek, the Iter does not report the end of the table.
func TestComparerThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	contents := build(t, nil, pairs)
	left := -1 // comparisons before it panics
	r := open(t, contents, &table.ReaderOptions{Comparer: noOrder{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int {
		if left--; left == 0 {
			panic("Comparer")
		}
		return bytes.Compare(a, b)
	}}})
	it := r.NewIter(nil)
	for n := 1; ; n++ {
		it.First()
		left = n
		panicked := panicOf(func() { it.SeekGE(pairs[50].Key) })
		left = -1
		if panicked == nil {
			break
		}
		if it.Valid() && bytes.Equal(it.Key(), pairs[0].Key) {
			continue // the index was searched, and the Iter has not moved
		}
		if it.Valid() || it.Next() || it.Prev() || it.Error() == nil {
			t.Fatalf("after a panic in comparison %d: Valid = %v, Error = %v", n, it.Valid(), it.Error())
		}
	}
	checkPairs(t, "after all panics", pairs, forward(t, it))
}

// If a source panics at random reads, of any call, nothing stays locked, in use or in the Cache.
func TestAnyReadMayPanic(t *testing.T) {
	t.Parallel()
	pairs := numbered(200)
	contents := build(t, &table.WriterOptions{BlockSize: 200, FilterPolicy: withBloom.FilterPolicy, Properties: true, DataDigest: true}, pairs)
	sum, _ := tailSum(t, contents)
	for seed := range uint64(long.Rounds(40, 1000)) {
		rng := rand.New(rand.NewPCG(13, seed))
		every := 0
		c := table.NewCache(int64(100 << rng.IntN(8)))
		r := openHooked(t, contents, &table.ReaderOptions{Cache: c, TailSum: sum}, func(_, _ int64) error {
			if every > 0 && rng.IntN(every) == 0 {
				panic(errBroken)
			}
			return nil
		})
		every = 1 + rng.IntN(10)
		for range 50 {
			call := anyCall(rng, r, pairs[rng.IntN(len(pairs))].Key)
			if p := panicOf(func() { call() }); p != nil && p != errBroken {
				t.Errorf("seed %d: a call panics with %v", seed, p)
			}
		}
		every = 0
		checkLookups(t, r, pairs)
		if err := r.Close(); err != nil || c.Use().Blocks != 0 {
			t.Errorf("seed %d: Close = %v; %d blocks in the Cache, want 0", seed, err, c.Use().Blocks)
		}
	}
}

// anyCall returns one of the calls that read, with one read at a time.
func anyCall(rng *rand.Rand, r *table.Reader, key []byte) func() error {
	one := &table.GetManyOptions{Concurrency: 1}
	return pick(rng, r.Verify, r.FilterErr,
		func() error { return errorOf(r.Get(key)) },
		func() error { return errorOf(getMany(r, [][]byte{key, []byte("key000007")}, one)) },
		func() error { return errorOf(getByIter(r, key, nil)) },
		func() error { return errorOf(r.Properties()) },
		func() error { return errorOf(r.MayContain(key)) },
	)
}
