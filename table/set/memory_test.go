package set_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// tableMemory returns the memory of one open table of m after some use.
func tableMemory(t testing.TB, src *store, m *set.Manifest, o *table.ReaderOptions) int64 {
	t.Helper()
	s := open(t, m, src, &set.Options{Reader: *o})
	defer s.Close()
	for _, l := range m.Tables {
		_, err := s.Get(background, l.Smallest)
		noError(t, err)
	}
	return s.MemorySize() / int64(len(m.Tables))
}

// MemorySize limits the memory of open tables. The Cache keeps the blocks of closed ones.
func TestMemorySizeBoundsOpenTables(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 100, filtered)
	o := table.ReaderOptions{Cache: table.NewCache(16 << 20)}
	one := tableMemory(t, src, m, &o)
	s := open(t, m, src, &set.Options{Reader: o, MemorySize: 10 * one, OpenAll: true})
	check := func(when string) {
		t.Helper()
		if got := s.MemorySize(); got > 10*one || got < 8*one {
			t.Errorf("%s: open tables take %d bytes, want about 10 × %d", when, got, one)
		}
	}
	check("after Open")
	rng := rand.New(rand.NewPCG(17, 1))
	for range 1000 {
		i := rng.IntN(100 * perTable)
		checkGet(t, s, key(i), valueOf(i))
		src.reads.Store(0)
		checkGet(t, s, key(i), valueOf(i))
		checkReads(t, src, 0) // the table used last is open, and its block cached
	}
	check("after lookups")
}

// After a Swap, tables that only the old manifest lists do not count towards MemorySize. As many new ones stay open
// as old ones did, and no more if the next manifest lists both.
func TestMemorySizeIsForTheTablesOfTheManifest(t *testing.T) {
	t.Parallel()
	const half = 20
	src, m := numberedSet(t, 2*half, filtered)
	o := table.ReaderOptions{Cache: table.NewCache(16 << 20)}
	one := tableMemory(t, src, m, &o)
	bound := half*one + one/2
	s := open(t, manifestOf(m.Tables[:half]...), src, &set.Options{Reader: o, MemorySize: bound})
	read := func(first int) {
		for i := range half {
			checkGet(t, s, key((first+i)*perTable), valueOf((first+i)*perTable))
		}
	}
	read(0)
	noError(t, s.Swap(background, manifestOf(m.Tables[half:]...)))
	read(half)
	src.reads.Store(0)
	read(half)
	checkReads(t, src, 0) // the tables were open before, and their blocks are in the Cache
	noError(t, s.Swap(background, m))
	read(0)
	read(half)
	if got := s.MemorySize(); got > bound {
		t.Errorf("with all tables, the open ones take %d bytes, want ≤ %d", got, bound)
	}
	checkEnd(t, s)
}

// When lookups have built search trees over the indexes, open tables take more memory. The Set then closes some.
func TestMemorySizeOfTablesThatGrow(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const tables, keys = 8, 2000
	o := *filtered
	o.BlockSize = 100
	src, m := setOf(t, tables, keys, &o)
	one := tableMemory(t, src, m, new(table.ReaderOptions))
	all := open(t, m, src, nil)
	bound := tables*one + one/2 // at first enough for all of them
	s := open(t, m, src, &set.Options{MemorySize: bound})
	rng := rand.New(rand.NewPCG(29, 1))
	for range 50 * keys {
		i := rng.IntN(tables * keys)
		checkGet(t, s, key(i), valueOf(i))
		checkGet(t, all, key(i), valueOf(i))
	}
	if got := s.MemorySize(); got > bound || got < one {
		t.Errorf("open tables take %d bytes, want ≤ %d", got, bound)
	}
	if got := all.MemorySize(); got < tables*one*5/4 {
		t.Errorf("tables that are all open take %d bytes, want some more than %d × %d", got, tables, one)
	}
}

// A table in repeated use stays open, however many other tables are used once.
func TestUsedTablesStayOpen(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 100, filtered)
	one := tableMemory(t, src, m, new(table.ReaderOptions))
	s := open(t, m, src, &set.Options{MemorySize: 10*one + one/2})
	src.ranges = []string{}
	used := key(7) + "x"
	for i := range 100 {
		checkGet(t, s, used, "")
		checkGet(t, s, key(i*perTable)+"x", "")
	}
	opened := map[string]int{}
	for _, r := range src.ranges {
		opened[r[:4]]++
	}
	if opened["t000"] != 1 || len(opened) != 100 {
		t.Errorf("the used table was opened %d times, want 1; %d tables were opened, want 100", opened["t000"], len(opened))
	}
}

// If tables are used in turn, and one does not fit, most of them still stay open.
func TestTablesStayOpenInAScan(t *testing.T) {
	t.Parallel()
	const tables, scans = 20, 30
	src, m := numberedSet(t, tables, filtered)
	one := tableMemory(t, src, m, new(table.ReaderOptions))
	s := open(t, m, src, &set.Options{MemorySize: tables*one - one/2})
	src.reads.Store(0)
	for i := range scans * tables {
		checkGet(t, s, key(i%tables*perTable)+"x", "")
	}
	if n := src.reads.Load(); n < scans || n > scans*tables/2 {
		t.Errorf("%d openings of %d tables in %d scans, want %d to %d", n, tables, scans, scans, scans*tables/2)
	}
}

// A table that exceeds MemorySize is open while it is in use.
func TestMemorySizeOfLessThanATable(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	cache := table.NewCache(1 << 20)
	s := open(t, m, src, &set.Options{MemorySize: 1, OpenAll: true, Reader: table.ReaderOptions{Cache: cache}})
	checkDiff(t, "MemorySize", int64(0), s.MemorySize())
	it := s.NewIter(background, nil)
	if !it.First() || s.MemorySize() == 0 {
		t.Error("an Iter has no table open")
	}
	it.Close()
	src.reads.Store(0)
	for _, want := range []int64{2, 1} { // the table and the block, then the table
		checkGet(t, s, key(149), "value of 149")
		checkReads(t, src, want)
	}
	checkDiff(t, "MemorySize", int64(0), s.MemorySize())
}

// A table that was used often, but not lately, is closed for others.
func TestMemoryForgetsOldUse(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 8, filtered)
	s := open(t, m, src, &set.Options{MemorySize: 7 * tableMemory(t, src, m, new(table.ReaderOptions)) / 2})
	get := func(i int) (reads int64) {
		src.reads.Store(0)
		noError(t, getOf(i*perTable)(s))
		return src.reads.Load()
	}
	get(0)
	if get(0) != 1 {
		t.Fatal("a table that is open is opened again")
	}
	for range 50 { // the hand moves on by one of four tables that are opened, at random
		for i := 1; i < len(m.Tables); i++ {
			get(i)
		}
	}
	if get(0) == 1 {
		t.Error("a table that was used twice, long ago, is still open")
	}
}
