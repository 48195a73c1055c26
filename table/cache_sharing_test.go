package table_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// Readers that share a cache see their own blocks, and take them along when they
// are closed.
func TestCacheIsShared(t *testing.T) {
	t.Parallel()
	c := table.NewCache(1 << 20)
	a, b := pairsOf("a", "b", "c"), pairsOf("a", "c", "d")
	ra := open(t, build(t, nil, a), &table.ReaderOptions{Cache: c})
	rb := open(t, build(t, nil, b), &table.ReaderOptions{Cache: c})
	for range 2 {
		checkLookups(t, ra, a)
		checkLookups(t, rb, b)
	}
	both := c.Metrics().Size
	value, err := ra.Get([]byte("b"))
	if err := errors.Join(err, ra.Close()); err != nil {
		t.Fatal(err)
	}
	if left := c.Metrics().Size; left == 0 || left >= both {
		t.Errorf("%d of %d bytes are left when one of two Readers is closed", left, both)
	}
	if _, err := ra.Get([]byte("b")); !errors.Is(err, table.ErrClosed) || string(value) != "value of b" {
		t.Errorf("after Close: Get = %v; the value got before is %q", err, value)
	}
	checkLookups(t, rb, b)
}

// Two tables share a cache that is much too small for them, under goroutines that
// look up, iterate and verify, until one closes its Reader: right answers, then
// ErrClosed, and nothing left.
func TestCacheIsSafeForConcurrentUse(t *testing.T) {
	c := table.NewCache(20_000)
	pairs := numbered(2000)
	contents := build(t, withBloom, pairs)
	var tables sync.WaitGroup
	for range 2 {
		tables.Go(func() {
			r := open(t, contents, &table.ReaderOptions{Cache: c, Metrics: new(table.Metrics)})
			users := workTogether(t, r, pairs, 8)
			checkKept(t, users, pairs)
		})
	}
	tables.Wait()
	if c.Metrics().Size != 0 {
		t.Errorf("%d bytes are left after all Readers were closed", c.Metrics().Size)
	}
}

// A cache outlives files: Open and Close in turn leave nothing behind.
func TestClosedFilesLeaveNothingInTheCache(t *testing.T) {
	t.Parallel()
	c := table.NewCache(1 << 20)
	for i := range 3 {
		name := filepath.Join(t.TempDir(), strings.Repeat("x", i+1))
		w, err := table.Create(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Append([]byte("key"), []byte{byte(i)}), w.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := table.Open(name, &table.ReaderOptions{Cache: c})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := r.Get([]byte("key")); err != nil || v[0] != byte(i) {
			t.Errorf("file %d: Get = %v, %v", i, v, err)
		}
		if err := r.Close(); err != nil || c.Metrics().Size != 0 {
			t.Errorf("file %d: Close = %v, %d bytes left", i, err, c.Metrics().Size)
		}
	}
}

// Iters move over cached blocks, and over such as have too long keys to be cached
// or held whole, as over others.
func TestCachedIterAgainstModel(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range 200 {
		prefix := strings.Repeat("k", []int{0, 20, 3000}[i%3])
		var pairs []workload.Pair
		for _, p := range dataset(t, "byte-edges") {
			if rng.IntN(20) == 0 {
				pairs = append(pairs, workload.Pair{Key: append([]byte(prefix), p.Key...), Value: p.Value})
			}
		}
		wo := &table.WriterOptions{BlockSize: 1 + rng.IntN(5000), RestartInterval: 1 + rng.IntN(100)}
		ro := &table.ReaderOptions{Cache: table.NewCache(int64(rng.IntN(20_000)))}
		var o table.IterOptions
		if rng.IntN(2) == 0 {
			o.Lower = append([]byte(prefix), byte(rng.IntN(256)))
		}
		if rng.IntN(2) == 0 {
			o.Upper = append([]byte(prefix), byte(rng.IntN(256)))
		}
		name := fmt.Sprintf("prefix of %d bytes, %+v, bounds %q to %q", len(prefix), wo, o.Lower, o.Upper)
		moveAgainstModel(t, rng, name, open(t, build(t, wo, pairs), ro).NewIter(&o), newModel(pairs, &o), func() []byte {
			return append([]byte(prefix), byte(rng.IntN(256)), byte(rng.IntN(256)))
		})
	}
}

// A Reader that is dropped without Close leaves blocks behind, and not itself.
func TestCacheKeepsNoReader(t *testing.T) {
	cache := table.NewCache(1 << 20)
	contents := build(t, nil, numbered(10))
	r := open(t, contents, &table.ReaderOptions{Cache: cache})
	if _, err := r.Get([]byte("key000000")); err != nil {
		t.Fatal(err)
	}
	gone := weak.Make(r)
	r = nil
	runtime.GC()
	if gone.Value() != nil {
		t.Error("the cache keeps the Reader in memory")
	}
	if cache.Metrics().Size == 0 {
		t.Error("the cache has no block")
	}
	runtime.KeepAlive(cache)
}
