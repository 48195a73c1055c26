package table_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
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
// what it holds, and hardly ever if they are twice as many as that. That is so of blocks of any size.
func TestFullCacheForgetsWhatItRefused(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const held = 64
	for _, tt := range []struct {
		size     int
		handsOut bool // the source hands out its bytes
	}{
		{1 << 10, false}, {8 << 10, false}, {48 << 10, false}, {48 << 10, true},
	} {
		a := askedAgain{t: t}
		for i := range 600 {
			a.pairs = append(a.pairs, workload.Pair{Key: fmt.Appendf(nil, "key%06d", i), Value: make([]byte, tt.size)})
		}
		contents := build(t, &table.WriterOptions{Compression: table.NoCompression, BlockSize: 1}, a.pairs)
		var source io.ReaderAt = bytes.NewReader(contents)
		if tt.handsOut {
			source = table.Bytes(contents)
		}
		o := &table.ReaderOptions{Cache: table.NewCache(int64(held * tt.size)), Metrics: &a.m, SkipChecksums: true}
		var err error
		if a.r, err = table.NewReader(source, int64(len(contents)), o); err != nil {
			t.Fatal(err)
		}
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

// An askedAgain has pairs in a block each, and asks for some of them again.
type askedAgain struct {
	t     *testing.T
	pairs []workload.Pair
	m     table.Metrics
	r     *table.Reader
	at    int // the next pair
}

func (a *askedAgain) read(i int) (fromFile bool) {
	before := a.m.BlocksRead.Load()
	if _, err := a.r.Get(a.pairs[i%len(a.pairs)].Key); err != nil {
		a.t.Fatal(err)
	}
	return a.m.BlocksRead.Load() > before
}

// taken returns the share of blocks that the Cache has taken when they are read again after others.
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
