package table_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// tenTables returns Readers of tables with the keys of numbered(1000), each with those of one
// last digit, and the pairs of each. They share c.
func tenTables(t *testing.T, c *table.Cache, m *table.Metrics) (readers []*table.Reader, pairs [][]workload.Pair) {
	t.Helper()
	pairs = make([][]workload.Pair, 10)
	for i, p := range numbered(1000) {
		pairs[i%10] = append(pairs[i%10], p)
	}
	for _, p := range pairs {
		o := &table.ReaderOptions{Cache: c, CacheIndexAndFilters: true, Metrics: m}
		readers = append(readers, open(t, build(t, withBloom, p), o))
	}
	return readers, pairs
}

// A Cache that has space for few of the tables changes no answer of any lookup.
func TestCacheOfTables(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	c := table.NewCache(10_000)
	readers, pairs := tenTables(t, c, &m)
	for range 2 {
		for i, r := range readers {
			checkLookups(t, r, pairs[i])
			if diff := diffPairs(pairs[i], backward(t, r.NewIter(nil))); diff != "" {
				t.Fatalf("table %d, backward (-want +got):\n%s", i, diff)
			}
			first, firstErr := r.FirstKey()
			last, lastErr := r.LastKey()
			if n := len(pairs[i]); !bytes.Equal(first, pairs[i][0].Key) || !bytes.Equal(last, pairs[i][n-1].Key) {
				t.Errorf("table %d: keys %q to %q: %v", i, first, last, errors.Join(firstErr, lastErr))
			}
			if !r.MayContain(pairs[i][0].Key) || r.MayContain([]byte("z")) {
				t.Errorf("table %d: MayContain is wrong", i)
			}
			if at := r.ApproximateOffset([]byte("z")); at == 0 {
				t.Errorf("table %d: ApproximateOffset of the end = 0", i)
			}
			if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
				t.Error(err)
			}
			if c.Size() > 10_000 {
				t.Errorf("the cache has %d bytes, want ≤ 10000", c.Size())
			}
		}
	}
	if n := m.Reopens.Load(); n < 10 {
		t.Errorf("%d reopens, want ≥ 10", n)
	}
	for _, r := range readers {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := c.Metrics(); got.Size != 0 || got.Blocks != 0 || got.Tables != 0 {
		t.Errorf("after Close: %+v, want nothing left", got)
	}
}

// A batch over all the tables finds each key once.
func TestGetManyOfCachedTables(t *testing.T) {
	t.Parallel()
	readers, pairs := tenTables(t, table.NewCache(10_000), nil)
	var keys [][]byte
	parts := make([]table.BatchPart, len(readers))
	for i, r := range readers {
		parts[i].Reader = r
		for _, p := range pairs[i] {
			parts[i].Keys = append(parts[i].Keys, len(keys))
			keys = append(keys, p.Key)
		}
	}
	found := make([]int, len(keys))
	count := func(i int, _ []byte) error { found[i]++; return nil }
	if err := table.GetMany(context.Background(), keys, parts, nil, count); err != nil {
		t.Fatal(err)
	}
	for i, n := range found {
		if n != 1 {
			t.Errorf("%q is found %d times", keys[i], n)
		}
	}
}

// A table that is in use keeps its index and filters while a scan of others goes through the
// Cache.
func TestCachedTablesResistScans(t *testing.T) {
	t.Parallel()
	var hot table.Metrics
	c := table.NewCache(100_000)
	contents := build(t, withBloom, numbered(20_000))
	o := table.ReaderOptions{Cache: c, CacheIndexAndFilters: true, Metrics: &hot}
	hotReader := open(t, build(t, withBloom, numbered(100)), &o)
	cold := open(t, contents, &table.ReaderOptions{Cache: c})
	it := cold.NewIter(nil)
	defer it.Close()
	for i := 0; it.Next(); i++ {
		if i%100 == 0 {
			hotReader.Get([]byte("key000050"))
			cold.Get(it.Key()) // the second read of a block, which the full cache takes then
		}
	}
	if n := hot.Reopens.Load(); n != 0 {
		t.Errorf("a table in use was opened again %d times", n)
	}
	if got := c.Metrics(); got.Tables != 1 || got.Evictions < 100 {
		t.Errorf("%+v, want 1 table, and over 100 evictions", got)
	}
}

// faultySource fails if broken is set.
type faultySource struct {
	io.ReaderAt
	broken atomic.Bool
}

func (s *faultySource) ReadAt(p []byte, off int64) (int, error) {
	if s.broken.Load() {
		return 0, errBroken
	}
	return s.ReaderAt.ReadAt(p, off)
}

// openFaulty opens a table with the keys of numbered(100). Its Cache is too small for anything, so
// that each lookup opens it again, and its source is broken from now on.
func openFaulty(t *testing.T) (*table.Reader, *faultySource) {
	t.Helper()
	contents := build(t, withBloom, numbered(100))
	src := &faultySource{ReaderAt: bytes.NewReader(contents)}
	r, err := table.NewReader(src, int64(len(contents)), &table.ReaderOptions{
		Cache: table.NewCache(100), CacheIndexAndFilters: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	src.broken.Store(true)
	return r, src
}

// If an evicted table cannot be read again, all lookups and Iters return the error, until it
// can. None says that a key is absent.
func TestCachedTableThatCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	r, src := openFaulty(t)
	key := []byte("key000050")
	for name, lookup := range map[string]func() error{
		"Get":        func() error { _, err := r.Get(key); return err },
		"AppendGet":  func() error { _, err := r.AppendGet(nil, key); return err },
		"Find":       func() error { _, _, err := r.Find(key); return err },
		"FindGE":     func() error { _, _, err := r.FindGE(key); return err },
		"Locate":     func() error { _, err := r.Locate(key); return err },
		"FirstKey":   func() error { _, err := r.FirstKey(); return err },
		"Properties": func() error { _, err := r.Properties(); return err },
		"FilterErr":  r.FilterErr,
		"GetMany": func() error {
			return r.GetMany(context.Background(), [][]byte{key}, nil, func(int, []byte) error { return nil })
		},
		"Iter": func() error {
			it := r.NewIter(&table.IterOptions{Lower: key})
			for _, ok := range []bool{it.First(), it.Last(), it.SeekGE(key), it.SeekLT(key), it.Next()} {
				if ok {
					return nil
				}
			}
			return it.Close()
		},
	} {
		if err := lookup(); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, want %v", name, err, errBroken)
		}
	}
	if !r.MayContain([]byte("z")) {
		t.Error("MayContain denies a key of a table that it cannot read")
	}
	src.broken.Store(false)
	if _, err := r.Get(key); err != nil {
		t.Errorf("when the source works again: %v", err)
	}
}

// Filters that Open refuses to use stay unused when the table is opened again.
func TestDeniedFiltersStayUnused(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.ldb")
	w, err := table.Create(name, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
	if err := errors.Join(err, w.Append([]byte("key"), nil), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := table.Open(name, &table.ReaderOptions{
		FilterKey: func([]byte) []byte { return []byte("other") }, Cache: table.NewCache(100), CacheIndexAndFilters: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if _, err := r.Get([]byte("key")); err != nil || r.FilterErr() == nil {
			t.Errorf("Get = %v, FilterErr = %v; want the key, and an error of the filter", err, r.FilterErr())
		}
	}
}

// Readers of one CacheKey share blocks, also when the Cache evicts their tables, and one closes.
func TestCachedTablesOfOneFile(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	pairs := numbered(1000)
	contents := build(t, withBloom, pairs)
	for _, room := range []int64{100, 10_000, 1 << 20} {
		c := table.NewCache(room)
		o := &table.ReaderOptions{Cache: c, CacheIndexAndFilters: true, CacheKey: "1"}
		first, second := open(t, contents, o), open(t, contents, o)
		checkLookups(t, first, pairs)
		checkLookups(t, second, pairs)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		checkLookups(t, second, pairs)
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		if m := c.Metrics(); m.Tables != 0 || m.Size > room {
			t.Errorf("room for %d bytes: %+v after Close", room, m)
		}
		third := open(t, contents, o)
		checkLookups(t, third, pairs)
		if err := third.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Lookups, Iters, evictions and Close of many tables at the same time.
func TestCachedTablesAreSafeForConcurrentUse(t *testing.T) {
	c := table.NewCache(10_000)
	readers, pairs := tenTables(t, c, new(table.Metrics))
	var users sync.WaitGroup
	for n := range 8 {
		users.Go(func() {
			for i := range 500 {
				at := (i*7 + n) % len(readers)
				p := pairs[at][i%len(pairs[at])]
				v, err := readers[at].Get(p.Key)
				if errors.Is(err, table.ErrClosed) && n != 0 {
					return
				}
				if err != nil || !bytes.Equal(v, p.Value) {
					t.Errorf("table %d: Get(%q) = %q, %v", at, p.Key, v, err)
					return
				}
			}
			for i := n; n == 0 && i < len(readers); i++ {
				if err := readers[i].Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
	if m := c.Metrics(); m.Size != 0 {
		t.Errorf("%+v, want nothing left", m)
	}
}
