package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A Cache of any size does not change results.
func TestCacheChangesNoAnswer(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	golden.Each(t, goldenDir, func(t *testing.T, g golden.Loaded) {
		if len(g.Want) > 10_000 {
			t.Skip("the others have every shape")
		}
		rooms := []int64{3000, 1 << 30}
		if long.Enabled() {
			rooms = []int64{-1, 0, 1, 3000, 20_000, 1 << 30}
		}
		for _, room := range rooms {
			c := table.NewCache(room)
			r := open(t, g.Contents, &table.ReaderOptions{Cache: c})
			for range 2 {
				checkLookups(t, r, g.Want)
				checkIter(t, fmt.Sprintf("room for %d bytes", room), r.NewIter(nil), g.Want)
			}
			if c.Size() > max(room, 0) {
				t.Errorf("room for %d bytes has %d", room, c.Size())
			}
			if err := errors.Join(r.Verify(), r.Close()); err != nil || c.Size() != 0 {
				t.Errorf("after Close: %v, %d bytes left", err, c.Size())
			}
		}
	})
}

// Cached blocks are not read again, by lookups or iterators.
func TestCacheSparesReads(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	pairs := numbered(2000)
	c := table.NewCache(1 << 20)
	r := open(t, build(t, withBloom, pairs), &table.ReaderOptions{Cache: c, Metrics: &m})
	forward(t, r.NewIter(nil))
	blocks := m.BlocksRead.Load()
	if blocks < 10 || m.CacheMisses.Load() != blocks || m.CacheHits.Load() != 0 {
		t.Errorf("first scan: %d blocks read, %d misses, %d hits; want as many misses as blocks, and no hits",
			blocks, m.CacheMisses.Load(), m.CacheHits.Load())
	}
	forward(t, r.NewIter(nil))
	if m.BlocksRead.Load() != blocks || m.CacheHits.Load() != blocks {
		t.Errorf("second scan: %d blocks read, %d hits; want none and %d", m.BlocksRead.Load()-blocks, m.CacheHits.Load(), blocks)
	}
	checkLookups(t, r, pairs)
	if m.BlocksRead.Load() != blocks || m.CacheEvictions.Load() != 0 {
		t.Errorf("lookups: %d blocks read, %d evictions; want none", m.BlocksRead.Load()-blocks, m.CacheEvictions.Load())
	}
	var text int64 // of all keys and values
	for _, p := range pairs {
		text += int64(len(p.Key) + len(p.Value))
	}
	if got := c.Use(); got.Blocks != int(blocks) || got.Evictions != 0 || got.Size < text || got.Size > 4*text {
		t.Errorf("Cache.Use = %+v, want %d blocks, no evictions, and %d bytes or some more", got, blocks, text)
	}
}

// Frequently used blocks survive scans of far more data than the Cache has room for.
func TestCacheResistsScans(t *testing.T) {
	t.Parallel()
	var hot, cold table.Metrics
	c := table.NewCache(100_000)
	// The Cache holds a tenth of these blocks. A full Cache keeps them as they are in the file.
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, numbered(30_000))
	hotReader := open(t, contents, &table.ReaderOptions{Cache: c, Metrics: &hot})
	coldReader := open(t, contents, &table.ReaderOptions{Cache: c, Metrics: &cold})
	keys := [][]byte{[]byte("key000000"), []byte("key010000"), []byte("key020000")}
	getAll(t, hotReader, keys)
	getAll(t, hotReader, keys)
	it := coldReader.NewIter(nil)
	for i := 0; it.Next(); i++ {
		if i%100 == 0 {
			getAll(t, hotReader, keys)
			coldReader.Get(it.Key()) // the second read of a block, which a full Cache then admits
		}
	}
	if n := hot.BlocksRead.Load(); n != 3 || hot.CacheEvictions.Load() != 0 {
		t.Errorf("3 blocks that are in use were read %d times", n)
	}
	if n := cold.CacheEvictions.Load(); n < 100 || n > cold.BlocksRead.Load() {
		t.Errorf("%d of the %d blocks of the scan gave way", n, cold.BlocksRead.Load())
	}
	if c.Size() > 100_000 || c.Size() < 80_000 {
		t.Errorf("the cache has %d bytes, want nearly 100000", c.Size())
	}
}

// alwaysPolicy has filters that contain every key, so that all checks of absent keys are false positives.
type alwaysPolicy struct{ filter.Policy }

func (alwaysPolicy) Name() string                     { return "test.Always" }
func (alwaysPolicy) Contains(filter, key []byte) bool { return true }

// A block that was read for a false positive is not cached. A block that was read without checking a filter is.
func TestCacheKeepsNoFalsePositives(t *testing.T) {
	t.Parallel()
	p := alwaysPolicy{filter.NewBloom(10)}
	contents := build(t, &table.WriterOptions{FilterPolicy: p}, numbered(10))
	for ignore, want := range map[bool]uint64{false: 3, true: 1} {
		var m table.Metrics
		r := open(t, contents, &table.ReaderOptions{
			FilterPolicies: []filter.Policy{p}, IgnoreFilter: ignore, Cache: table.NewCache(1 << 20), Metrics: &m,
		})
		present, absent := []byte("key000002"), []byte("key000001")
		getAll(t, r, [][]byte{absent, absent, absent})
		if got := m.BlocksRead.Load(); got != want {
			t.Errorf("filter ignored: %v: 3 lookups of an absent key read %d blocks, want %d", ignore, got, want)
		}
		hits := m.CacheHits.Load()
		if getAll(t, r, [][]byte{present, absent}); m.CacheHits.Load() == hits {
			t.Errorf("filter ignored: %v: a present key's block is not kept", ignore)
		}
	}
}

// OnFalsePositive looks for other versions of the user key, without caching their block.
func TestCacheKeepsNoFalsePositivesOfUserKeys(t *testing.T) {
	t.Parallel()
	p := alwaysPolicy{filter.NewBloom(10)}
	contents := build(t, &table.WriterOptions{FilterPolicy: p, Comparer: internalOrder}, internalPairs("b", "d"))
	reported, cache := 0, table.NewCache(1<<20)
	r := open(t, contents, &table.ReaderOptions{
		FilterPolicies: []filter.Policy{p}, Comparer: internalOrder, Cache: cache, OnFalsePositive: func([]byte) { reported++ },
	})
	if _, _, err := r.Find(internalkey.SearchKey(nil, []byte("c"), 5)); err != table.ErrNotFound || reported != 1 {
		t.Fatalf("Find of an absent key: %v, with %d false positives reported, want ErrNotFound and 1", err, reported)
	}
	if size := cache.Size(); size > 0 {
		t.Errorf("%d bytes are cached after a false positive, want 0", size)
	}
}

// A block that cannot be read, or is corrupt, is not cached: the next call tries again.
func TestCacheKeepsNoErrors(t *testing.T) {
	t.Parallel()
	var fail error
	o := &table.ReaderOptions{Cache: table.NewCache(1 << 20)}
	r := openHooked(t, build(t, nil, numbered(100)), o, func(_, _ int64) error { return fail })
	for _, tt := range []struct {
		fail error
		want error
	}{{io.ErrNoProgress, io.ErrNoProgress}, {nil, nil}, {io.ErrNoProgress, nil}} {
		fail = tt.fail
		if _, err := r.Get([]byte("key000000")); !errors.Is(err, tt.want) {
			t.Errorf("source fails with %v: Get = %v, want %v", tt.fail, err, tt.want)
		}
	}

	p := sound()
	p.data2 = raw(rawtable.Entries("d", "4", "c", "3"))
	r = open(t, p.build(), o)
	for range 2 {
		checkError(t, "Get of keys out of order", errorOf(r.Get([]byte("c"))), table.ErrCorrupt, "")
	}
}

// Blocks that are too large for the Cache are read each time. A block of nearly 4 MiB is cached, if there is room
// for it.
func TestCacheLeavesLargeBlocksOut(t *testing.T) {
	t.Parallel()
	var many []workload.Pair
	for i := range 20_000 {
		many = append(many, workload.Pair{Key: fmt.Appendf(nil, "%06d", i)})
	}
	one := func(size int) []workload.Pair {
		return []workload.Pair{{Key: []byte("a"), Value: make([]byte, size)}}
	}
	for _, tt := range []struct {
		name  string
		room  int64
		pairs []workload.Pair
		reads uint64 // at most 4
	}{
		{"too many entries", 1 << 30, many, 4},
		{"a block of > 4 MiB", 1 << 30, one(4 << 20), 4},
		{"a block of < 4 MiB", 1 << 30, one(4<<20 - 200), 1},
		{"larger than the cache", 1000, one(2000), 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m table.Metrics
			c := table.NewCache(tt.room)
			r := open(t, build(t, &table.WriterOptions{BlockSize: 1 << 20}, tt.pairs), &table.ReaderOptions{Cache: c, Metrics: &m})
			for range 3 {
				checkGet(t, r, tt.pairs[0].Key, tt.pairs[0].Value)
			}
			checkPairs(t, "forward", tt.pairs, forward(t, r.NewIter(nil)))
			reads, hits := m.BlocksRead.Load(), m.CacheHits.Load()
			if reads != tt.reads || hits != 4-tt.reads || (c.Size() == 0) != (hits == 0) {
				t.Errorf("%d blocks read, %d hits, %d bytes kept; want %d blocks", reads, hits, c.Size(), tt.reads)
			}
		})
	}
}

// A full Cache admits blocks that are soon read again. Blocks that are read once, as by a scan, evict nothing.
func TestFullCacheTakesWhatIsReadAgain(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	o := &table.ReaderOptions{Cache: table.NewCache(200_000), Metrics: &m}
	pairs := numbered(30_000)
	// The Cache holds a fifth of these blocks. A full Cache keeps them as they are in the file.
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	r := open(t, contents, o)
	forward(t, r.NewIter(nil))
	before := m.CacheEvictions.Load()
	forward(t, r.NewIter(nil))
	if n := m.CacheEvictions.Load() - before; n > 2 {
		t.Errorf("a scan has evicted %d blocks, want none or nearly so", n)
	}
	before, misses, rng := m.CacheEvictions.Load(), m.CacheMisses.Load(), rand.New(rand.NewPCG(27, 27))
	for range 5000 {
		getAll(t, r, keysOf(pairs, rng.IntN(len(pairs))))
	}
	evictions, misses := m.CacheEvictions.Load()-before, m.CacheMisses.Load()-misses
	if evictions < misses/50 || evictions > misses/4 {
		t.Errorf("%d of %d blocks that were read at random have evicted others, want some, and < a quarter", evictions, misses)
	}
	before = m.BlocksRead.Load()
	for range 200 {
		for i := range 10 {
			getAll(t, r, keysOf(pairs, i*1500))
		}
	}
	if n := m.BlocksRead.Load() - before; n > 10*10 {
		t.Errorf("10 blocks that are read 200 times were read from the file %d times, want ≤ 100", n)
	}
}

// When a Reader is closed, and an eighth of a full Cache becomes free, it again admits blocks on their first read.
func TestCacheWithSpaceAgainTakesWhatIsReadOnce(t *testing.T) {
	t.Parallel()
	const budget = 100_000
	c := table.NewCache(budget)
	o := &table.ReaderOptions{Cache: c}
	half, rest := open(t, build(t, nil, numbered(1200)), o), open(t, build(t, nil, numbered(2000)), o)
	forward(t, half.NewIter(nil))
	forward(t, rest.NewIter(nil))
	pairs := numbered(100)
	other := open(t, build(t, oneKeyBlocks, pairs), o)
	taken := func(i int) bool {
		before := c.Use()
		getAll(t, other, keysOf(pairs, i))
		return c.Use() != before
	}
	if taken(0) {
		t.Fatalf("a full Cache takes a block that is read once: %+v", c.Use())
	}
	noError(t, half.Close())
	if size := c.Size(); size < budget/8 || size > budget-budget/8 {
		t.Fatalf("after Close the Cache has %d bytes, want some free space and some blocks", size)
	}
	if !taken(99) {
		t.Errorf("a Cache with space refuses a block: %+v", c.Use())
	}
}

// A full Cache admits a block that is read again after some others: in most cases if these are a quarter of the
// blocks that it can hold, and hardly ever if they are twice as many as it can hold. This is so for blocks of any
// size.
func TestFullCacheForgetsWhatItRefused(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const held = 64
	for _, tt := range []struct {
		size     int
		handsOut bool // the source hands out its bytes
	}{
		{1 << 10, false}, {8 << 10, false}, {48 << 10, false}, {48 << 10, true},
	}[:long.Size(2, 4)] {
		a := askedAgain{t: t}
		for i := range 600 {
			a.pairs = append(a.pairs, workload.Pair{Key: fmt.Appendf(nil, "key%06d", i), Value: make([]byte, tt.size)})
		}
		contents := build(t, oneKeyBlocks, a.pairs)
		var source io.ReaderAt = bytes.NewReader(contents)
		if tt.handsOut {
			source = table.Bytes(contents)
		}
		o := &table.ReaderOptions{Cache: table.NewCache(int64(held * tt.size)), Metrics: &a.m, SkipChecksums: true}
		a.r = newReader(t, source, len(contents), o)
		for a.at < 2*held {
			a.read(a.at)
			a.at++
		}
		if share := a.taken(held / 4); share < 0.5 || share > 0.72 {
			t.Errorf("%+v: after others of a quarter of the capacity %.0f %% of the blocks are taken, want 61 %%", tt, 100*share)
		}
		if share := a.taken(2 * held); share > 0.07 {
			t.Errorf("%+v: after others of twice the capacity %.0f %% of the blocks are taken, want 2 %%", tt, 100*share)
		}
	}
}

// An askedAgain has pairs in a block each, and looks up some of them again.
type askedAgain struct {
	t     *testing.T
	pairs []workload.Pair
	m     table.Metrics
	r     *table.Reader
	at    int // the next pair
}

func (a *askedAgain) read(i int) (fromFile bool) {
	before := a.m.BlocksRead.Load()
	getAll(a.t, a.r, keysOf(a.pairs, i%len(a.pairs)))
	return a.m.BlocksRead.Load() > before
}

// taken returns the share of blocks that the Cache admits when they are read again after others.
func (a *askedAgain) taken(others int) (share float64) {
	tried, n := 0, 0
	for range 400 {
		first := a.at
		inFile := a.read(first)
		for range others {
			a.at++
			a.read(a.at)
		}
		a.at++
		if inFile && a.read(first) {
			if tried++; !a.read(first) {
				n++
			}
		}
	}
	return float64(n) / float64(tried)
}
