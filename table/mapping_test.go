//go:build unix

package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
	"github.com/sievetable/sievetable/table/merge"
)

// openMapped opens a file with Mapped.
func openMapped(t testing.TB, name string, o table.ReaderOptions) *table.Reader {
	t.Helper()
	o.Mapped = true
	r, err := table.Open(name, &o)
	noError(t, err)
	return r
}

// For any options, a mapped file gives the same results as a file that is read.
func TestMapped(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(29, seed))
		pairs := numbered(1 + rng.IntN(3000))
		w := table.WriterOptions{
			BlockSize: 1 << rng.IntN(14), RestartInterval: 1 + rng.IntN(20),
			Compression:       pick[table.Codec](rng, nil, table.NoCompression),
			FilterPolicy:      pick[filter.Policy](rng, nil, filter.NewBloom(10), filter.NewBloom(10)),
			TableFilterPolicy: pick[filter.TablePolicy](rng, nil, nil, filter.NewTableBloom(10)),
		}
		o := table.ReaderOptions{Cache: pick(rng, nil, table.NewCache(int64(1000<<rng.IntN(10))))}
		name := fmt.Sprintf("seed %d", seed)
		r := openMapped(t, writeTable(t, build(t, &w, pairs)), o)
		for range 2 {
			checkLookups(t, r, pairs)
			checkPairs(t, name, pairs, forward(t, r.NewIter(nil)))
			r.BuildIndex()
		}
		checkGetMany(t, name, r, allKeys(pairs), nil)
		noError(t, errors.Join(r.Verify(), r.FilterErr(), r.Close()))
	}
}

// If a file is cut while in use, calls that reach the missing part return an error. Returned values are right.
func TestMappedFileThatIsCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(30, seed))
		pairs := numbered(30_000)
		w := table.WriterOptions{FilterPolicy: filter.NewBloom(10)}
		if seed%2 == 0 {
			w.Compression = table.NoCompression
		}
		contents := build(t, &w, pairs)
		name := writeTable(t, contents)
		r := openMapped(t, name, table.ReaderOptions{})
		if seed%3 == 0 {
			r.BuildIndex()
		}
		var users sync.WaitGroup
		var u usage
		for n := range uint64(4) {
			users.Go(func() {
				err := u.untilCut(t, r, pairs, rand.New(rand.NewPCG(seed, n)))
				if err == nil || strings.Contains(err.Error(), "not found") {
					t.Errorf("seed %d: error %v, want one of the file", seed, err)
				}
			})
		}
		u.await(rng.Int64N(5000))
		noError(t, os.Truncate(name, rng.Int64N(int64(len(contents))/2)))
		u.cut.Store(true)
		users.Wait()
		if err := r.Verify(); err == nil {
			t.Errorf("seed %d: Verify of a file that was cut finds nothing", seed)
		}
		noError(t, r.Close())
	}
}

// A usage is the use of a Reader by several goroutines, whose file is then cut.
type usage struct {
	lookups atomic.Int64
	cut     atomic.Bool
}

// await waits until there were that many lookups.
func (u *usage) await(lookups int64) {
	for u.lookups.Load() < lookups {
		runtime.Gosched()
	}
}

// untilCut uses the Reader until it fails, and returns the error. If there is none long after the cut, it returns
// nil.
func (u *usage) untilCut(t *testing.T, r *table.Reader, pairs []workload.Pair, rng *rand.Rand) error {
	defer u.lookups.Add(1 << 40) // so that await no longer waits
	ways := []string{"Get", "Find", "FindGE", "GetMany", "SeekGE"}
	for after := 0; after < 1_000_000; u.lookups.Add(1) {
		if u.cut.Load() {
			after++
		}
		p, way := pairs[rng.IntN(len(pairs))], pick(rng, ways...)
		v, err := lookups[way](r, p.Key)
		if err != nil {
			return err
		}
		if !bytes.Equal(v, p.Value) {
			t.Errorf("%s: %q has value %q, want %q", way, p.Key, v, p.Value)
		}
	}
	return nil
}

// The search tree is built after about as many lookups as there are data blocks, and not before. If the index is
// corrupt, it is never built.
func TestManyLookupsBuildTheIndex(t *testing.T) {
	t.Parallel()
	pairs := numbered(5000)
	r := open(t, build(t, &table.WriterOptions{BlockSize: 100}, pairs), nil)
	getAll(t, r, allKeys(pairs[:20]))
	if r.IndexIsBuilt() {
		t.Error("20 lookups have built the tree of a thousand blocks")
	}
	before := r.MemorySize()
	for range 10 {
		getAll(t, r, allKeys(pairs))
	}
	if !r.IndexIsBuilt() || r.MemorySize() <= before {
		t.Errorf("50,000 lookups: built %t; MemorySize %d, before %d", r.IndexIsBuilt(), r.MemorySize(), before)
	}
}

// The table filter stays in the mapped file, and so do the index and the block filters.
func TestMappedTableTakesNoMemory(t *testing.T) {
	t.Parallel()
	pairs := numbered(20_000)
	for name, contents := range map[string][]byte{
		"filter only": filterOnly(t, pairs),
		"both filters": build(t, &table.WriterOptions{
			FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Compression: table.NoCompression,
		}, pairs),
	} {
		r := openMapped(t, writeTable(t, contents), table.ReaderOptions{})
		for _, p := range pairs[:10] {
			if !mayContain(r, p.Key) {
				t.Fatalf("%s: MayContain(%q) = false", name, p.Key)
			}
		}
		if size := r.MemorySize(); size > 4000 {
			t.Errorf("%s: MemorySize = %d of %d bytes, want ≤ 4000", name, size, len(contents))
		}
	}
}

// collectUntil collects garbage until done, or for a long time.
func collectUntil(done func() bool) bool {
	for deadline := time.Now().Add(hang); !done() && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	return done()
}

// The file is unmapped when the Reader is closed and nothing uses it, and not before.
func TestMappedFileIsUnmapped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what is mapped is known on Linux")
	}
	pairs := numbered(1000)
	name := writeTable(t, build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs))
	isMapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		noError(t, err)
		return bytes.Contains(maps, []byte(name))
	}
	r := openMapped(t, name, table.ReaderOptions{})
	it := r.NewIter(nil)
	it.First()
	noError(t, r.Close())
	for range 5 {
		runtime.GC()
	}
	if !isMapped() || !bytes.Equal(it.Value(), pairs[0].Value) {
		t.Error("the file is unmapped while an Iter is at an entry")
	}
	for name, err := range map[string]error{
		"Get": errorOf(r.Get(pairs[0].Key)), "Verify": r.Verify(), "FilterErr": r.FilterErr(), "Layout": errorOf(r.Layout()), "Tail": errorOf(r.Tail()), "Close": r.Close(),
	} {
		checkError(t, name+" after Close", err, table.ErrClosed, "")
	}
	noError(t, it.Close())
	if !collectUntil(func() bool { return !isMapped() }) {
		t.Error("the file stays mapped after Close")
	}
	runtime.KeepAlive(r)
}

// If there are more files than may be mapped, some are read, with the same results. When mapped files are closed,
// others can be mapped.
func TestTooManyMappedFiles(t *testing.T) {
	pairs := numbered(100)
	name := writeTable(t, build(t, nil, pairs))
	most := table.Mappings() + 3
	table.SetMaxMappings(t, most)
	for range 3 {
		var all []*table.Reader
		for range 10 {
			r := openMapped(t, name, table.ReaderOptions{})
			checkLookups(t, r, pairs)
			all = append(all, r)
		}
		if n := table.Mappings(); n == 0 || n > most {
			t.Fatalf("%d files are mapped, want 1 to %d", n, most)
		}
		for _, r := range all {
			noError(t, r.Close())
		}
		if !collectUntil(func() bool { return table.Mappings() <= most-3 }) {
			t.Errorf("%d files stay mapped after Close, want at most %d", table.Mappings(), most-3)
		}
	}
}

// If a mapped file was cut, every use returns an error and does not fault, including the methods for tools.
func TestToolsOnMappedFileThatIsCut(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Properties: true, DataDigest: true, FilterPolicy: withBloom.FilterPolicy, Compression: table.NoCompression}, numbered(5000))
	for name, use := range map[string]func(r *table.Reader, l *layout.Layout) error{
		"Properties": func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Properties()) },
		"Layout":     func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Layout()) },
		"VerifyKeys": func(r *table.Reader, _ *layout.Layout) error {
			return errorOf(r.VerifyKeys(func([]byte, uint64, uint64) {}))
		},
		"Locate": func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Locate([]byte("key000002"))) },
		"Ends": func(r *table.Reader, _ *layout.Layout) error {
			l, err := r.Tail()
			noError(t, err)
			return errorOf(l.Ends())
		},
		"Meta":      func(_ *table.Reader, l *layout.Layout) error { return errorOf(l.Meta()) },
		"Filters":   func(_ *table.Reader, l *layout.Layout) error { return errorOf(l.Filters()) },
		"ReadBlock": func(_ *table.Reader, l *layout.Layout) error { _, _, err := l.ReadBlock(l.Data[3].Handle); return err },
		"TailSum":   func(_ *table.Reader, l *layout.Layout) error { _, _, err := l.TailSum(); return err },
	} {
		file := writeTable(t, contents)
		r := openMapped(t, file, table.ReaderOptions{})
		l, err := r.Layout()
		noError(t, err)
		it := r.NewIter(nil)
		it.First()
		noError(t, os.Truncate(file, 0))
		if err := use(r, l); !errors.Is(err, io.ErrUnexpectedEOF) || strings.Count(err.Error(), "table: ") != 1 {
			t.Errorf("%s: %v, want io.ErrUnexpectedEOF, with one prefix", name, err)
		}
		if it.Block() != (layout.Handle{}) || !mayContain(r, []byte("key000002")) || r.ApproximateOffset([]byte("key000002")) != 0 {
			t.Errorf("%s: Block, MayContain or ApproximateOffset gives an answer from a file that was cut", name)
		}
	}
}

// The current value of an Iter of a mapped file remains when the file is cut.
func TestIteratorsOnMappedFileThatIsCut(t *testing.T) {
	t.Parallel()
	value := bytes.Repeat([]byte("v"), 50)
	var pairs []workload.Pair
	for i := range 5000 {
		pairs = append(pairs, workload.Pair{Key: internalKey(fmt.Sprintf("k%06d", i), 5, internalkey.Set), Value: value})
	}
	file := writeTable(t, build(t, &table.WriterOptions{Compression: table.NoCompression, Comparer: internalOrder}, pairs))
	r := openMapped(t, file, table.ReaderOptions{Comparer: internalOrder})
	it, s := r.NewIter(nil), merge.NewSnapshotIter(nil, r.NewIter(nil), internalkey.MaxSequence)
	if !it.First() || !s.Last() {
		t.Fatal(it.Error(), s.Error())
	}
	noError(t, os.Truncate(file, 0))
	if !bytes.Equal(it.Value(), value) || !bytes.Equal(s.Value(), value) {
		t.Errorf("values %q and %q, want %q", it.Value(), s.Value(), value)
	}
	for s.Prev() {
	}
	checkError(t, "Prev", s.Error(), io.ErrUnexpectedEOF, "")
}

// If a file is cut within its last page, at any comparison of a lookup, a returned value is right. When the file is
// whole again, so are all results, including cached ones.
func TestMappedFileThatIsCutInALookup(t *testing.T) {
	t.Parallel()
	pairs := numbered(5)
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	want := pairs[3]
	for way, look := range lookups {
		for n := range 2 * 20 {
			name, left := writeTable(t, contents), 0
			cutting := noOrder{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int {
				if left--; left == 0 {
					os.Truncate(name, 20)
				}
				return bytes.Compare(a, b)
			}}
			o := table.ReaderOptions{Comparer: cutting}
			if n%2 == 0 {
				o.Cache = table.NewCache(1 << 20)
			}
			r := openMapped(t, name, o)
			noError(t, r.FilterErr()) // opens the table
			left = 1 + n/2
			if v, err := look(r, want.Key); err == nil && !bytes.Equal(v, want.Value) {
				t.Errorf("cut in comparison %d, with Cache %v: %s = %q, want %q or an error", 1+n/2, n%2 == 0, way, v, want.Value)
			}
			left = 0
			noError(t, os.WriteFile(name, contents, 0o600)) // the same file
			checkLookups(t, r, pairs)
		}
	}
}
