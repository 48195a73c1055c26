package goleveldb_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	ltable "github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table/goleveldb"
	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

// benchEntries are the entries of an engine's table of 2 MB.
func benchEntries() (entries []entry, o *opt.Options) {
	value := make([]byte, 100)
	for i := range 18_000 {
		for j := range 50 {
			value[j] = byte(rand.Uint32())
		}
		copy(value[50:], value)
		key := internalKey(fmt.Appendf(nil, "user%012d", 7919*i), uint64(i), 1)
		entries = append(entries, entry{key, bytes.Clone(value)})
	}
	return entries, &opt.Options{Comparer: leveldb.NewComparer(comparer.DefaultComparer), Filter: leveldb.NewFilter(lfilter.NewBloomFilter(10))}
}

// openers returns functions that open a table with each package.
func openers(contents []byte, o *opt.Options) map[string]func(*cache.NamespaceGetter) (reader, error) {
	pool, size := util.NewBufferPool(4096+5), int64(len(contents))
	return map[string]func(*cache.NamespaceGetter) (reader, error){
		"goleveldb": func(g *cache.NamespaceGetter) (reader, error) {
			return ltable.NewReader(bytes.NewReader(contents), size, fd, g, pool, o)
		},
		"ours": func(g *cache.NamespaceGetter) (reader, error) {
			return goleveldb.NewReader(bytes.NewReader(contents), size, fd, g, pool, o)
		},
	}
}

// eachPackage runs a benchmark of a table with each package, with a cache that the table fits into.
func eachPackage(b *testing.B, bench func(b *testing.B, r reader, entries []entry)) {
	entries, o := benchEntries()
	for name, open := range openers(theirTable(b, o, entries), o) {
		b.Run(name, func(b *testing.B) {
			r, err := open(&cache.NamespaceGetter{Cache: newCache(64 << 20), NS: 1})
			noError(b, err)
			defer r.Release()
			for _, e := range entries {
				if _, _, err := r.Find(e.key, true, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			bench(b, r, entries)
		})
	}
}

// A lookup, as in the engine.
func BenchmarkFind(b *testing.B) {
	eachPackage(b, func(b *testing.B, r reader, entries []entry) {
		for b.Loop() {
			if _, _, err := r.Find(entries[rand.IntN(len(entries))].key, true, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A new iterator, a seek, and ten moves.
func BenchmarkSeek(b *testing.B) {
	eachPackage(b, func(b *testing.B, r reader, entries []entry) {
		for b.Loop() {
			it := r.NewIterator(nil, nil)
			ok := it.Seek(entries[rand.IntN(len(entries)-10)].key)
			for i := 0; ok && i < 10; i++ {
				ok = it.Next()
			}
			if it.Release(); !ok {
				b.Fatal(it.Error())
			}
		}
	})
}

// Writing a table of 2 MB, as a compaction does.
func BenchmarkWriter(b *testing.B) {
	entries, o := benchEntries()
	pool := util.NewBufferPool(4096 + 5)
	for name, create := range map[string]func() writer{
		"goleveldb": func() writer { return theirWriter(io.Discard, o, pool, 2<<20) },
		"ours":      func() writer { return goleveldb.NewWriter(io.Discard, o, pool, 2<<20) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write(b, create(), entries)
			}
		})
	}
}

// Opening a table of 2 MB and scanning it, as a compaction does.
func BenchmarkCompactionInput(b *testing.B) {
	entries, o := benchEntries()
	for name, open := range openers(theirTable(b, o, entries), o) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			blocks := newCache(8 << 20)
			for ns := uint64(0); b.Loop(); ns++ {
				r, err := open(&cache.NamespaceGetter{Cache: blocks, NS: ns})
				if err != nil {
					b.Fatal(err)
				}
				it := r.NewIterator(nil, &opt.ReadOptions{DontFillCache: true, Strict: opt.StrictOverride | opt.StrictReader})
				n := 0
				for it.Next() {
					n++
				}
				if it.Release(); n != len(entries) {
					b.Fatal(it.Error())
				}
				r.Release()
			}
		})
	}
}
