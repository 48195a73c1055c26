//go:build unix

package table_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// writeMapped writes contents to a new file, and returns its name.
func writeMapped(t testing.TB, contents []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "t.ldb")
	if err := os.WriteFile(name, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// openMapped opens a file that it maps.
func openMapped(t testing.TB, name string, o table.ReaderOptions) *table.Reader {
	t.Helper()
	o.Mapped = true
	r, err := table.Open(name, &o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A mapped file has the answers of one that is read, whatever the options are.
func TestMapped(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(29, seed))
		pairs := numbered(1 + rng.IntN(3000))
		w := table.WriterOptions{BlockSize: 1 << rng.IntN(14), RestartInterval: 1 + rng.IntN(20)}
		if rng.IntN(2) == 0 {
			w.Compression = table.NoCompression
		}
		if rng.IntN(3) > 0 {
			w.FilterPolicy = filter.NewBloom(10)
		}
		if rng.IntN(3) == 0 {
			w.TableFilterPolicy = filter.NewTableBloom(10)
		}
		var o table.ReaderOptions
		if rng.IntN(2) == 0 {
			o.Cache = table.NewCache(int64(1000 << rng.IntN(10)))
		}
		r := openMapped(t, writeMapped(t, build(t, &w, pairs)), o)
		for range 2 {
			checkLookups(t, r, pairs)
			if diff := diffPairs(pairs, forward(t, r.NewIter(nil))); diff != "" {
				t.Fatalf("seed %d: (-want +got):\n%s", seed, diff)
			}
			r.BuildIndex()
		}
		checkGets(t, r, pairs)
		if err := errors.Join(r.Verify(), r.FilterErr(), r.Close()); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// checkGets compares what Get and GetMany return with pairs.
func checkGets(t *testing.T, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	var keys [][]byte
	for _, p := range pairs {
		keys = append(keys, p.Key)
		if v, err := r.Get(p.Key); err != nil || v == nil || !bytes.Equal(v, p.Value) {
			t.Fatalf("Get(%q) = %q, %v, want %q", p.Key, v, err, p.Value)
		}
	}
	if _, err := r.Get([]byte("none")); err != table.ErrNotFound {
		t.Errorf("Get of an absent key: %v", err)
	}
	found := 0
	err := r.GetMany(context.Background(), keys, nil, func(i int, v []byte) error {
		if found++; !bytes.Equal(v, pairs[i].Value) {
			t.Errorf("GetMany: %q of %q", v, keys[i])
		}
		return nil
	})
	if err != nil || found != len(pairs) {
		t.Errorf("GetMany found %d of %d keys, %v", found, len(pairs), err)
	}
}

// A file that is cut while it is in use is an error of whatever comes to the missing part. Values that
// are returned are right.
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
		name := writeMapped(t, contents)
		r := openMapped(t, name, table.ReaderOptions{})
		if seed%3 == 0 {
			r.BuildIndex()
		}
		var users sync.WaitGroup
		var u usage
		failed := make(chan error, 4)
		for n := range cap(failed) {
			users.Go(func() { failed <- u.untilCut(t, r, pairs, rand.New(rand.NewPCG(seed, uint64(n)))) })
		}
		u.await(rng.Int64N(5000))
		if err := os.Truncate(name, rng.Int64N(int64(len(contents))/2)); err != nil {
			t.Fatal(err)
		}
		u.cut.Store(true)
		users.Wait()
		for range cap(failed) {
			if err := <-failed; err == nil || strings.Contains(err.Error(), "not found") {
				t.Errorf("seed %d: error %v, want one of the file", seed, err)
			}
		}
		if err := r.Verify(); err == nil {
			t.Errorf("seed %d: Verify of a file that was cut finds nothing", seed)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A usage is of a Reader by several goroutines, whose file is then cut, or which is closed.
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

// untilCut uses the Reader until that has an error, which it returns. It returns nil if there is none
// long after the cut.
func (u *usage) untilCut(t *testing.T, r *table.Reader, pairs []workload.Pair, rng *rand.Rand) error {
	defer u.lookups.Add(1 << 40) // for await, which waits for none of it
	for after := 0; after < 1_000_000; u.lookups.Add(1) {
		if u.cut.Load() {
			after++
		}
		p := pairs[rng.IntN(len(pairs))]
		var v []byte
		var err error
		switch rng.IntN(4) {
		case 0:
			v, err = r.Get(p.Key)
		case 1:
			_, v, err = r.Find(p.Key)
		case 2:
			_, v, err = r.FindGE(p.Key)
		case 3:
			v = p.Value
			err = r.GetMany(context.Background(), [][]byte{p.Key}, nil, func(_ int, found []byte) error { v = found; return nil })
		}
		if err == nil {
			it := r.NewIter(nil)
			it.SeekGE(p.Key)
			err = it.Close()
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(v, p.Value) {
			t.Errorf("%q has value %q, want %q", p.Key, v, p.Value)
		}
	}
	return nil
}

// The search tree is built after about as many lookups as there are data blocks, and not before. If
// the index is damaged it is never built.
func TestManyLookupsBuildTheIndex(t *testing.T) {
	t.Parallel()
	pairs := numbered(5000)
	r := open(t, build(t, &table.WriterOptions{BlockSize: 100}, pairs), nil)
	for _, p := range pairs[:20] {
		r.Get(p.Key)
	}
	if r.IndexIsBuilt() {
		t.Error("20 lookups have built the tree of a thousand blocks")
	}
	before := r.MemorySize()
	for range 10 {
		for _, p := range pairs {
			r.Get(p.Key)
		}
	}
	if !r.IndexIsBuilt() || r.MemorySize() <= before {
		t.Errorf("50,000 lookups: built %t; MemorySize %d, before %d", r.IndexIsBuilt(), r.MemorySize(), before)
	}
}

// A filter of the whole table stays in the mapped file, and so do the index and the filters of blocks.
func TestMappedTableTakesNoMemory(t *testing.T) {
	t.Parallel()
	pairs := numbered(20_000)
	var keys []workload.Pair
	for _, p := range pairs {
		keys = append(keys, workload.Pair{Key: p.Key})
	}
	for name, contents := range map[string][]byte{
		"filter only": build(t, &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}, keys),
		"both filters": build(t, &table.WriterOptions{
			FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Compression: table.NoCompression,
		}, pairs),
	} {
		file := writeMapped(t, contents)
		r := openMapped(t, file, table.ReaderOptions{})
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

// The file is unmapped when the Reader is closed and nothing uses it, and not before.
func TestMappedFileIsUnmapped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what is mapped is known on Linux")
	}
	pairs := numbered(1000)
	name := writeMapped(t, build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs))
	isMapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(maps, []byte(name))
	}
	r := openMapped(t, name, table.ReaderOptions{})
	it := r.NewIter(nil)
	it.First()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
	}
	if !isMapped() || !bytes.Equal(it.Value(), pairs[0].Value) {
		t.Error("the file is unmapped while an Iter is at an entry")
	}
	for name, err := range map[string]error{
		"Get": errorOf(r.Get(pairs[0].Key)), "Verify": r.Verify(), "FilterErr": r.FilterErr(), "Layout": errorOf(r.Layout()), "Close": r.Close(),
	} {
		if !errors.Is(err, table.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(hang); isMapped() && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	if isMapped() {
		t.Error("the file stays mapped after Close")
	}
	runtime.KeepAlive(r)
}

// Of more files than may be mapped, some are read, with the same answers. When those that are mapped
// are closed, others can be.
func TestTooManyMappedFiles(t *testing.T) {
	pairs := numbered(100)
	name := writeMapped(t, build(t, nil, pairs))
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
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(hang); table.Mappings() > most-3 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			runtime.GC()
		}
	}
	if n := table.Mappings(); n > most-3 {
		t.Errorf("%d files stay mapped after Close, want at most %d", n, most-3)
	}
}

// Close of a mapped Reader while others use it: right answers, then ErrClosed.
func TestMappedReaderIsClosedInUse(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	name := writeMapped(t, build(t, withBloom, pairs))
	for range 20 {
		r := openMapped(t, name, table.ReaderOptions{})
		var users sync.WaitGroup
		var u usage
		for n := range 3 {
			users.Go(func() {
				err := u.untilCut(t, r, pairs, rand.New(rand.NewPCG(31, uint64(n))))
				if !errors.Is(err, table.ErrClosed) {
					t.Errorf("error %v, want ErrClosed", err)
				}
			})
		}
		u.await(100)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		u.cut.Store(true)
		users.Wait()
	}
}
