package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// w3 is generated once, when first used.
var w3 = sync.OnceValue(func() workload.Set { return workload.W3(entries()) })

// A tableSet is a set.Source whose tables are in memory.
type tableSet struct {
	manifest set.Manifest
	contents map[string][]byte
}

func (s *tableSet) ReadAt(_ context.Context, name string, p []byte, off int64) (int, error) {
	return bytes.NewReader(s.contents[name]).ReadAt(p, off)
}

// newTableSet distributes the keys of w over n tables.
func newTableSet(b *testing.B, w workload.Set, n int, o *table.WriterOptions) *tableSet {
	b.Helper()
	s := &tableSet{contents: map[string][]byte{}}
	for i := range n {
		var out bytes.Buffer
		t, err := set.NewTableWriter(&out, o)
		noError(b, err)
		for _, key := range w.Keys[len(w.Keys)*i/n : len(w.Keys)*(i+1)/n] {
			noError(b, t.Append(key, nil))
		}
		line, err := t.Close()
		noError(b, err)
		line.Name = fmt.Sprint(i)
		s.contents[line.Name] = out.Bytes()
		s.manifest.Tables = append(s.manifest.Tables, line)
	}
	return s
}

func openSet(b *testing.B, s *tableSet, o table.ReaderOptions) *set.Set {
	b.Helper()
	opened, err := set.Open(context.Background(), &s.manifest, s, &set.Options{Reader: o, OpenAll: true})
	noError(b, err)
	b.Cleanup(func() { opened.Close() })
	return opened
}

// A target is a set or a table that benchmarks query.
type target struct {
	tables string // how many: "10" or "1"

	get     func(key []byte) ([]byte, error)
	getMany func(keys [][]byte, found func(int, []byte) error) error
}

// targets returns a set of ten tables, and one table of the same URLs. All blocks are cached.
func targets(b *testing.B) []target {
	ctx := context.Background()
	wo := &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}
	ten := openSet(b, newTableSet(b, w3(), 10, wo), table.ReaderOptions{Cache: table.NewCache(2 << 30)})
	for range ten.NewIter(ctx, nil).All() {
	}
	one := tabletest.Open(b, tabletest.Build(b, wo, w3().Pairs()), &table.ReaderOptions{Cache: table.NewCache(2 << 30)})
	for range one.All(nil) {
	}
	return []target{{
		"10",
		func(key []byte) ([]byte, error) { return ten.Get(ctx, key) },
		func(keys [][]byte, found func(int, []byte) error) error { return ten.GetMany(ctx, keys, nil, found) },
	}, {
		"1",
		func(key []byte) ([]byte, error) { return one.With(ctx).Get(key) },
		func(keys [][]byte, found func(int, []byte) error) error { return one.GetMany(ctx, keys, nil, found) },
	}}
}

// BenchmarkSet looks up URLs in a set of ten tables, and in one table of the same URLs.
func BenchmarkSet(b *testing.B) {
	w, hits := w3(), make([][]byte, min(1<<17, entries()))
	for i := range hits { // in a random order
		hits[i] = w.Keys[w.Hits[i]]
	}
	for _, form := range targets(b) {
		b.Run("tables="+form.tables+"/keys=absent/op=get", func(b *testing.B) {
			getOneByOne(b, form, w.Absent, table.ErrNotFound)
		})
		b.Run("tables="+form.tables+"/keys=present/op=get", func(b *testing.B) { getOneByOne(b, form, hits, nil) })
		b.Run("tables="+form.tables+"/keys=present/op=many", func(b *testing.B) { getBatches(b, form, hits, 64) })
	}
}

// getOneByOne looks up keys. Each lookup must return the error want.
func getOneByOne(b *testing.B, a target, keys [][]byte, want error) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := a.get(keys[i%len(keys)]); !errors.Is(err, want) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/key")
}

// getBatches looks up present keys in batches.
func getBatches(b *testing.B, a target, keys [][]byte, size int) {
	b.ReportAllocs()
	at, found := 0, 0
	for b.Loop() {
		if err := a.getMany(keys[at:at+size], func(int, []byte) error { found++; return nil }); err != nil {
			b.Fatal(err)
		}
		at = (at + size) % len(keys)
	}
	if found != b.N*size {
		b.Fatalf("%d keys found, want %d", found, b.N*size)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/key")
}

// BenchmarkSetMemory opens a set of ten tables with a million URLs. It reports their memory, by MemorySize and by the
// growth of the heap.
func BenchmarkSetMemory(b *testing.B) {
	for _, filters := range []string{"10", "10+10"} {
		for _, blockSize := range []int{4 << 10, 32 << 10} {
			b.Run(fmt.Sprintf("bits=%s/block=%dKiB", filters, blockSize>>10), func(b *testing.B) {
				o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: blockSize}
				if filters == "10+10" {
					o.TableFilterPolicy = filter.NewTableBloom(10)
				}
				tables := newTableSet(b, w3(), 10, o)
				before := filtertest.HeapInUse()
				s := openSet(b, tables, table.ReaderOptions{})
				heap := filtertest.HeapInUse() - before
				memory := s.MemorySize()
				for b.Loop() {
					openSet(b, tables, table.ReaderOptions{}).Close()
				}
				b.ReportMetric(float64(heap)/float64(len(w3().Keys)), "heap-bytes/key")
				b.ReportMetric(float64(memory)/float64(len(w3().Keys)), "index+filter-bytes/key")
			})
		}
	}
}
