package table_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// A full Cache takes what is read again soon. What is read once, as by a scan, evicts nothing.
// When it has space again, it takes all.
func TestFullCacheTakesWhatIsReadAgain(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	c := table.NewCache(200_000)
	pairs := numbered(30_000)
	// Of these blocks, which a full Cache keeps as they are in the file, it holds a fifth.
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	r := open(t, contents, &table.ReaderOptions{Cache: c, Metrics: &m})
	get := func(i int) {
		t.Helper()
		if _, err := r.Get(pairs[i].Key); err != nil {
			t.Fatal(err)
		}
	}
	hot := func(rounds int) (reads uint64) {
		t.Helper()
		before := m.BlocksRead.Load()
		for range rounds {
			for i := range 10 {
				get(i * 1500)
			}
		}
		return m.BlocksRead.Load() - before
	}
	forward(t, r.NewIter(nil))
	before := m.CacheEvictions.Load()
	forward(t, r.NewIter(nil))
	if n := m.CacheEvictions.Load() - before; n > 2 {
		t.Errorf("a scan has evicted %d blocks, want none or nearly so", n)
	}
	before, misses, rng := m.CacheEvictions.Load(), m.CacheMisses.Load(), rand.New(rand.NewPCG(27, 27))
	for range 5000 {
		get(rng.IntN(len(pairs)))
	}
	evictions, misses := m.CacheEvictions.Load()-before, m.CacheMisses.Load()-misses
	if evictions < misses/50 || evictions > misses/4 {
		t.Errorf("%d of %d blocks that were read at random have evicted others, want some, and < a quarter", evictions, misses)
	}
	if n := hot(200); n > 10*10 {
		t.Errorf("10 blocks that are read 200 times were read from the file %d times, want ≤ 100", n)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = open(t, contents, &table.ReaderOptions{Cache: c, Metrics: &m})
	if n := hot(2); n != 10 {
		t.Errorf("an empty Cache: 10 blocks were read from the file %d times", n)
	}
}

// When a Reader is closed, and an eighth of a full Cache is free, it takes what is read once again.
func TestCacheWithSpaceAgainTakesWhatIsReadOnce(t *testing.T) {
	t.Parallel()
	const budget = 100_000
	c := table.NewCache(budget)
	o := &table.ReaderOptions{Cache: c}
	half, rest := open(t, build(t, nil, numbered(1200)), o), open(t, build(t, nil, numbered(2000)), o)
	forward(t, half.NewIter(nil))
	forward(t, rest.NewIter(nil))
	other := open(t, build(t, oneKeyBlocks, numbered(100)), o)
	taken := func(key []byte) bool {
		before := c.Metrics()
		if _, err := other.Get(key); err != nil {
			t.Fatal(err)
		}
		return c.Metrics() != before
	}
	if taken(numbered(1)[0].Key) {
		t.Fatalf("a full Cache takes a block that is read once: %+v", c.Metrics())
	}
	if err := half.Close(); err != nil {
		t.Fatal(err)
	}
	if size := c.Metrics().Size; size < budget/8 || size > budget-budget/8 {
		t.Fatalf("after Close the Cache has %d bytes, want some free space and some blocks", size)
	}
	if !taken(numbered(100)[99].Key) {
		t.Errorf("a Cache with space refuses a block: %+v", c.Metrics())
	}
}

// A full Cache takes a block that is read again after some others, most often if they are a quarter of
// what it holds, and hardly ever if they are twice as many as that.
func TestFullCacheForgetsWhatItRefused(t *testing.T) {
	t.Parallel()
	const size, held = 8 << 10, 128
	var pairs []workload.Pair
	for i := range 4000 {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "key%06d", i), Value: make([]byte, size)})
	}
	var m table.Metrics
	o := &table.ReaderOptions{Cache: table.NewCache(held * size), Metrics: &m, SkipChecksums: true}
	r := open(t, build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs), o)
	at := 0
	read := func(i int) (fromFile bool) {
		before := m.BlocksRead.Load()
		if _, err := r.Get(pairs[i%len(pairs)].Key); err != nil {
			t.Fatal(err)
		}
		return m.BlocksRead.Load() > before
	}
	for at < 2*held {
		read(at)
		at++
	}
	taken := func(others int) (share float64) {
		const trials = 400
		tried, n := 0, 0
		for range trials {
			first := at
			inFile := read(first)
			for range others {
				at++
				read(at)
			}
			at++
			if inFile && read(first) {
				if tried++; !read(first) {
					n++
				}
			}
		}
		return float64(n) / float64(tried)
	}
	if share := taken(held / 4); share < 0.5 || share > 0.72 {
		t.Errorf("after others of a quarter of the capacity %.0f %% of the blocks are taken, want 61 %%", 100*share)
	}
	if share := taken(2 * held); share > 0.07 {
		t.Errorf("after others of twice the capacity %.0f %% of the blocks are taken, want 2 %%", 100*share)
	}
}
