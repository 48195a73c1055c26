package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// fullCache returns a Cache of that many bytes which is full of blocks that nobody uses any more.
func fullCache(t *testing.T, bytes int64) *table.Cache {
	t.Helper()
	c := table.NewCache(bytes)
	r := open(t, build(t, nil, numbered(int(bytes/40))), &table.ReaderOptions{Cache: c})
	forward(t, r.NewIter(nil))
	if c.Metrics().Evictions == 0 {
		t.Fatalf("a Cache of %d bytes has %d, want it full", bytes, c.Metrics().Size)
	}
	return c
}

// A full Cache keeps blocks as they are in the file, and so more of them than it could keep decoded.
// However they are looked up, they are not read again.
func TestFullCacheKeepsBlocksAsStored(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	pairs := numbered(2500) // the blocks take 113 kB decoded
	r := open(t, build(t, withBloom, pairs), &table.ReaderOptions{Cache: fullCache(t, 90_000), Metrics: &m})
	var firsts []workload.Pair // of each block
	for i, p := range pairs {
		h, err := r.Locate(p.Key)
		if err != nil {
			t.Fatal(err)
		}
		if last, _ := r.Locate(pairs[max(0, i-1)].Key); i == 0 || last != h {
			firsts = append(firsts, p)
		}
	}
	for _, p := range firsts {
		for range 2 {
			if _, err := r.Get(p.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := m.BlocksRead.Load()
	if want := uint64(2 * len(firsts)); read != want || m.CacheHits.Load() != 0 {
		t.Fatalf("%d blocks read and %d hits, want %d and none", read, m.CacheHits.Load(), want)
	}
	var keys [][]byte
	for _, p := range firsts {
		keys = append(keys, p.Key)
	}
	for _, tt := range []struct {
		name string
		get  func(key []byte) (value []byte, err error)
	}{
		{"Get", r.Get},
		{"Find", func(key []byte) (v []byte, err error) { _, v, err = r.Find(key); return v, err }},
		{"FindGE", func(key []byte) (v []byte, err error) { _, v, err = r.FindGE(key); return v, err }},
		{"Iter", func(key []byte) ([]byte, error) {
			it := r.NewIter(nil)
			defer it.Close()
			it.SeekGE(key)
			return bytes.Clone(it.Value()), it.Error()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, p := range firsts {
				if v, err := tt.get(p.Key); err != nil || !bytes.Equal(v, p.Value) {
					t.Errorf("%s(%q) = %q, %v; want %q", tt.name, p.Key, v, err, p.Value)
				}
			}
		})
	}
	found := 0
	err := r.GetMany(context.Background(), keys, nil, func(i int, value []byte) error {
		if found++; !bytes.Equal(value, firsts[i].Value) {
			t.Errorf("GetMany(%q) = %q, want %q", keys[i], value, firsts[i].Value)
		}
		return nil
	})
	if err != nil || found != len(keys) {
		t.Errorf("GetMany has found %d of %d keys, %v", found, len(keys), err)
	}
	if n := m.BlocksRead.Load() - read; n > 0 {
		t.Errorf("%d blocks were read again", n)
	}
}

// A block that a full Cache keeps as it is in the file is decoded after some uses, and lookups allocate
// nothing then.
func TestFullCacheDecodesWhatIsUsed(t *testing.T) {
	r := open(t, build(t, withBloom, numbered(1000)), &table.ReaderOptions{Cache: fullCache(t, 100_000)})
	key := []byte("key001000")
	get := func() {
		if _, err := r.Get(key); err != nil {
			t.Fatal(err)
		}
	}
	get()
	get()
	if n := testing.AllocsPerRun(5, get); n == 0 {
		t.Error("the Cache has the block decoded when it was read twice, want it as it is in the file")
	}
	get()
	get()
	if n := testing.AllocsPerRun(100, get); n > 0 && !long.Race {
		t.Errorf("%v allocations for a block that was used often, want none", n)
	}
}

// Blocks of all shapes are the same from the copy that a full Cache keeps.
func TestFullCacheChangesNoAnswer(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	golden.Each(t, goldenDir, func(t *testing.T, g golden.Loaded) {
		if len(g.Want) > 10_000 {
			t.Skip("the others have every shape")
		}
		r := open(t, g.Contents, &table.ReaderOptions{Cache: fullCache(t, 200_000)})
		for range 2 {
			checkLookups(t, r, g.Want)
			if diff := diffPairs(g.Want, forward(t, r.NewIter(nil))); diff != "" {
				t.Fatalf("forward (-want +got):\n%s", diff)
			}
			if diff := diffPairs(g.Want, backward(t, r.NewIter(nil))); diff != "" {
				t.Fatalf("backward (-want +got):\n%s", diff)
			}
		}
	})
}

// A lookup finds less of what is wrong with a block than an Iter does. The Iter finds the same in the
// copy that the lookup has left in a full Cache.
func TestFullCacheAndDamage(t *testing.T) {
	t.Parallel()
	p := sound()
	p.data2 = raw(rawtable.Entries("c", "3", "e", "5", "d", "4"))
	contents := p.build()
	scan := func(r *table.Reader) error {
		it := r.NewIter(nil)
		for it.Next() {
		}
		return it.Close()
	}
	want := scan(open(t, contents, nil))
	r := open(t, contents, &table.ReaderOptions{Cache: fullCache(t, 50_000)})
	for i := range 20 {
		if v, err := r.Get([]byte("c")); string(v) != "3" && !errors.Is(err, table.ErrCorrupt) {
			t.Fatalf("lookup %d: Get = %q, %v", i, v, err)
		}
		if err := scan(r); fmt.Sprint(err) != fmt.Sprint(want) {
			t.Fatalf("after lookup %d: %v, want %v", i, err, want)
		}
	}
}

// A file that has a CacheKey by mistake, and blocks of other lengths than the file that a full Cache
// knows: lookups find what that file has.
func TestFullCacheKeyOfFileWithOtherLengths(t *testing.T) {
	t.Parallel()
	pairsOf := func(a, b int) []workload.Pair {
		return []workload.Pair{{Key: []byte("a"), Value: make([]byte, a)}, {Key: []byte("b"), Value: make([]byte, b)}}
	}
	o := &table.WriterOptions{BlockSize: 1, Compression: table.NoCompression}
	first, second := build(t, o, pairsOf(10, 20)), build(t, o, pairsOf(20, 10))
	if n := len(first) - 48; len(first) != len(second) || !bytes.Equal(first[n:], second[n:]) {
		t.Fatalf("the tables have %d and %d bytes, want the same size and footer", len(first), len(second))
	}
	c := fullCache(t, 50_000)
	for range 2 {
		r := open(t, first, &table.ReaderOptions{Cache: c, CacheKey: "k"})
		r.Get([]byte("a"))
		r.Get([]byte("b"))
	}
	r := open(t, second, &table.ReaderOptions{Cache: c, CacheKey: "k"})
	for key, want := range map[string]int{"a": 20, "b": 10} {
		if v, err := r.Get([]byte(key)); err != nil || len(v) != want {
			t.Errorf("Get(%q) = %d bytes, %v; want %d", key, len(v), err, want)
		}
	}
}

// GetMany reads some blocks of a batch in runs, and has those between them in the Cache.
func TestGetManyBetweenStoredBlocks(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	r := open(t, build(t, oneKeyBlocks, pairs), &table.ReaderOptions{Cache: fullCache(t, 500_000)})
	var keys [][]byte
	for i, p := range pairs {
		keys = append(keys, p.Key)
		for range i % 3 { // what is read twice is kept
			if _, err := r.Get(p.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	found := make([]int, len(keys))
	err := r.GetMany(context.Background(), keys, nil, func(i int, value []byte) error {
		if found[i]++; found[i] > 1 || !bytes.Equal(value, pairs[i].Value) {
			return fmt.Errorf("%q has the value %q, and is found %d times", keys[i], value, found[i])
		}
		return nil
	})
	if i := slices.Index(found, 0); err != nil || i >= 0 {
		t.Errorf("GetMany = %v, and key %d is not found", err, i)
	}
}
