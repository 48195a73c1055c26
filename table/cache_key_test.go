package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// Readers with the same CacheKey share their blocks, even with a Reader that is opened after all others were closed.
// Other files, and other Comparers for the same file, have blocks of their own.
func TestReadersWithACacheKeyShareBlocks(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	contents := build(t, withBloom, pairs)
	c := table.NewCache(1 << 20)
	for _, tt := range []struct {
		name     string
		contents []byte
		key      string
		order    table.Comparer
		reads    bool
	}{
		{"first", contents, "a", nil, true},
		{"the same key", contents, "a", nil, false},
		{"another key", contents, "b", nil, true},
		{"no key", contents, "", nil, true},
		{"the same key, another file", build(t, oneKeyBlocks, pairs), "a", nil, true},
		{"the same key, another order", contents, "a", otherName{table.BytewiseComparer}, true},
	} {
		var m table.Metrics
		r := open(t, tt.contents, &table.ReaderOptions{Cache: c, CacheKey: tt.key, Comparer: tt.order, Metrics: &m})
		checkLookups(t, r, pairs)
		noError(t, r.Close())
		if blocks := m.BlocksRead.Load(); (blocks > 0) != tt.reads || c.Size() == 0 {
			t.Errorf("%s: %d blocks read, and then %d bytes kept", tt.name, blocks, c.Size())
		}
	}
}

// A file gets the CacheKey of another file with the same footer but fewer data blocks: lookups still return the
// file's own values.
func TestCacheKeyOfFileWithMoreBlocks(t *testing.T) {
	t.Parallel()
	few := []workload.Pair{{Key: []byte("kkkkkkkkkka")}, {Key: []byte("kkkkkkkkkkb")}}
	many := []workload.Pair{{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("b"), Value: []byte("2")}, {Key: []byte("c"), Value: []byte("3")}}
	first, second := build(t, oneKeyBlocks, few), build(t, oneKeyBlocks, many)
	if n := len(first) - 48; len(first) != len(second) || !bytes.Equal(first[n:], second[n:]) {
		t.Fatalf("the tables have %d and %d bytes, want the same size and footer", len(first), len(second))
	}
	o := &table.ReaderOptions{Cache: table.NewCache(1 << 20), CacheKey: "a"}
	checkLookups(t, open(t, first, o), few)
	checkLookups(t, open(t, second, o), many)
}

// otherName is an order with another name.
type otherName struct{ table.Comparer }

func (otherName) Name() string { return "otherName" }

// Opening files evicts no blocks of closed ones: only reads do.
func TestCacheOfManyClosedFiles(t *testing.T) {
	t.Parallel()
	c := table.NewCache(50_000)
	pairs := numbered(200)
	contents := build(t, oneKeyBlocks, pairs)
	for i := range 300 {
		r := open(t, contents, &table.ReaderOptions{Cache: c, CacheKey: fmt.Sprint(i)})
		getAll(t, r, keysOf(pairs, i%200))
		r.Close()
	}
	for i := range 300 {
		open(t, contents, &table.ReaderOptions{Cache: c, CacheKey: fmt.Sprint(i)}).Close()
	}
	if c.Size() == 0 {
		t.Error("opening files without a read empties the cache")
	}
}

// Readers of files with and without a CacheKey come and go. The Cache never exceeds its budget. Once all files are
// closed and their blocks were evicted for another file's, which is closed too, the Cache is empty.
func TestCacheOfFilesThatComeAndGoIsEmptyInTheEnd(t *testing.T) {
	t.Parallel()
	const budget = 60_000
	pairs := numbered(3000)
	contents, large := build(t, oneKeyBlocks, pairs[:400]), build(t, oneKeyBlocks, pairs)
	rng := rand.New(rand.NewPCG(29, 1))
	for range 20 {
		c := table.NewCache(budget)
		readers := map[int]*table.Reader{}
		read := func(r *table.Reader, i int) {
			t.Helper()
			checkGet(t, r, pairs[i].Key, pairs[i].Value)
			if m := c.Use(); m.Size > budget || m.Size < 0 || m.Blocks < 0 {
				t.Fatalf("the Cache has %d blocks and takes %d bytes, want at most %d", m.Blocks, m.Size, budget)
			}
		}
		for range 300 {
			i := rng.IntN(6)
			if readers[i] == nil {
				o := table.ReaderOptions{Cache: c}
				if i%2 == 0 {
					o.CacheKey = fmt.Sprint(rng.IntN(4))
				}
				readers[i] = open(t, contents, &o)
			}
			for first, n := rng.IntN(400), rng.IntN(40); n > 0; n-- {
				read(readers[i], (first+n)%400)
			}
			if rng.IntN(8) == 0 {
				noError(t, readers[i].Close())
				delete(readers, i)
			}
		}
		readers[6] = open(t, large, &table.ReaderOptions{Cache: c})
		for i := range 2 * len(pairs) { // twice each: a full Cache admits blocks on their second read
			read(readers[6], i/2)
		}
		for _, r := range readers {
			noError(t, r.Close())
		}
		if m := c.Use(); m.Size != 0 || m.Blocks != 0 {
			t.Errorf("in the end the Cache has %d blocks and takes %d bytes, want none", m.Blocks, m.Size)
		}
	}
}

// Two tables share a Cache that is much too small for them, while goroutines look up, iterate and verify, until one
// closes its Reader: results are right, then ErrClosed, and in the end the Cache is empty.
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
	if c.Size() != 0 {
		t.Errorf("%d bytes are left after all Readers were closed", c.Size())
	}
}

// A Reader that is dropped without Close leaves cached blocks behind, but is garbage-collected itself.
func TestCacheKeepsNoReader(t *testing.T) {
	cache := table.NewCache(1 << 20)
	contents := build(t, nil, numbered(10))
	r := open(t, contents, &table.ReaderOptions{Cache: cache})
	getAll(t, r, [][]byte{[]byte("key000000")})
	gone := weak.Make(r)
	runtime.GC()
	if gone.Value() != nil {
		t.Error("the cache keeps the Reader in memory")
	}
	if cache.Size() == 0 {
		t.Error("the cache has no block")
	}
	runtime.KeepAlive(cache)
}
