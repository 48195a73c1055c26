package goleveldb_test

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/table/goleveldb"
)

func newCache(capacity int) *cache.Cache { return cache.NewCache(cache.NewLRU(capacity)) }

// A countingReader counts the reads of a file.
type countingReader struct {
	*bytes.Reader
	reads atomic.Int64
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	r.reads.Add(1)
	return r.Reader.ReadAt(p, off)
}

// cachedFile opens a table as file number ns of a cache, and also returns its countingReader.
func cachedFile(t *testing.T, contents []byte, c *cache.Cache, ns uint64, o *opt.Options) (*goleveldb.Reader, *countingReader) {
	t.Helper()
	f := &countingReader{Reader: bytes.NewReader(contents)}
	r, err := goleveldb.NewReader(f, int64(len(contents)), fd, &cache.NamespaceGetter{Cache: c, NS: ns}, nil, o)
	noError(t, err)
	t.Cleanup(r.Release)
	f.reads.Store(0)
	return r, f
}

// Blocks stay in the cache under their namespace until they are evicted.
func TestBlocksStayUntilEvicted(t *testing.T) {
	t.Parallel()
	var o opt.Options
	entries := (&tableCase{}).entries(50) // one block
	contents := theirTable(t, &o, entries)
	shared, closed := newCache(1<<20), newCache(1<<20)
	goleveldb.CloseCache(closed)
	for _, step := range []struct {
		name   string
		before func()
		cache  *cache.Cache
		ns     uint64
		ro     *opt.ReadOptions
		reads  int64
	}{
		{"not filled", nil, shared, 1, &opt.ReadOptions{DontFillCache: true}, 2},
		{"filled", nil, shared, 1, nil, 1},
		{"a second Reader", nil, shared, 1, nil, 0},
		{"found though not to be filled", nil, shared, 1, &opt.ReadOptions{DontFillCache: true}, 0},
		{"another file", nil, shared, 2, nil, 1},
		{"Evict has no effect", func() { shared.Evict(1, 0) }, shared, 1, nil, 0},
		{"the file is evicted", func() { shared.EvictNS(1) }, shared, 1, nil, 1},
		{"the other is not", nil, shared, 2, nil, 0},
		{"all are evicted", shared.EvictAll, shared, 2, nil, 1},
		{"no capacity", nil, cache.NewCache(nil), 1, nil, 2},
		{"too small", nil, newCache(100), 1, nil, 2},
		{"closed", nil, closed, 1, nil, 2},
		{"no cache", nil, nil, 1, nil, 2},
	} {
		t.Run(step.name, func(t *testing.T) {
			if step.before != nil {
				step.before()
			}
			r, f := cachedFile(t, contents, step.cache, step.ns, &o)
			for _, e := range entries[:2] {
				if got, err := r.Get(e.key, step.ro); err != nil || !bytes.Equal(got, e.value) {
					t.Fatalf("Get(%q) = %q, %v", e.key, got, err)
				}
			}
			if got := f.reads.Load(); got != step.reads {
				t.Errorf("%d reads, want %d", got, step.reads)
			}
			r.Release()
		})
	}
}

// A scan that does not fill the cache reads many blocks at once.
func TestScanReadsAhead(t *testing.T) {
	t.Parallel()
	o := opt.Options{BlockSize: 500, Compression: opt.NoCompression}
	contents := theirTable(t, &o, (&tableCase{}).entries(20_000))
	for _, ro := range []opt.ReadOptions{{}, {DontFillCache: true}} {
		r, f := cachedFile(t, contents, newCache(1<<10), 1, &o)
		it := r.NewIterator(nil, &ro)
		for it.Next() {
		}
		it.Release()
		if got, most := int(f.reads.Load()), 2+len(contents)>>15; ro.DontFillCache != (got <= most) {
			t.Errorf("%d reads of a table of %d bytes, want %d with DontFillCache only: %+v", got, len(contents), most, ro)
		}
	}
}
