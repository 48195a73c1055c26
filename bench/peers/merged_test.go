package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	cockroach "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/iterator"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/ours"
	"github.com/sievetable/sievetable/bench/peers/internal/pebble"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// deal distributes the set's entries over n tables at random.
func deal(set workload.Set, n int) [][]workload.Pair {
	rng := rand.New(rand.NewPCG(8, 8))
	parts := make([][]workload.Pair, n)
	for _, p := range set.Pairs() {
		t := rng.IntN(n)
		parts[t] = append(parts[t], p)
	}
	return parts
}

// A mergedIterator is an engine's iterator over several tables.
type mergedIterator interface {
	First() bool
	Last() bool
	Next() bool
	Prev() bool
	SeekGE(key []byte) bool
	Key() []byte
	Value() []byte
	Error() error
}

// mergers lists functions that write a table of each part and iterate over all of them.
var mergers = []struct {
	name  string
	merge func(b *testing.B, shape manifest.Table, parts [][]workload.Pair) mergedIterator
}{
	{"sievetable", mergeOurs},
	{"sievetable-snapshot", mergeSnapshot},
	{"goleveldb", mergeGoleveldb(false)},
	{"goleveldb-cached", mergeGoleveldb(true)},
	{"pebble", mergePebble},
	{"pebble-external", mergePebbleExternal},
}

// BenchmarkMerged iterates over W1 in eight tables with interleaved keys. The engines take turns. For each engine,
// it reports the median time in ns per entry of a scan, or per seek and ten moves.
func BenchmarkMerged(b *testing.B) {
	n, seeks := long.Size(10_000, 1_000_000), long.Size(100, 5_000)
	set := workload.W1(n)
	workload.Pack(set.Keys)
	workload.Pack(set.Values)
	parts := deal(set, 8)
	hits := make([][]byte, seeks)
	for i := range hits {
		hits[i] = set.Keys[set.Hits[i]]
	}
	for _, compression := range []string{"none", "snappy"} {
		b.Run("compression="+compression, func(b *testing.B) {
			shape := manifest.Table{BlockSize: 4096, RestartInterval: 16, BitsPerKey: 10, Compression: compression}
			all := map[string]mergedIterator{}
			for _, m := range mergers {
				all[m.name] = m.merge(b, shape, parts)
			}
			b.Run("scan=forward", func(b *testing.B) {
				mergeInTurns(b, all, n, func(it mergedIterator) int { return sum(it.First, it.Next, it, n+1) })
			})
			b.Run("scan=backward", func(b *testing.B) {
				mergeInTurns(b, all, n, func(it mergedIterator) int { return sum(it.Last, it.Prev, it, n+1) })
			})
			b.Run("seek+10", func(b *testing.B) {
				mergeInTurns(b, all, seeks, func(it mergedIterator) (bytes int) {
					for _, k := range hits {
						bytes += sum(func() bool { return it.SeekGE(k) }, it.Next, it, 11)
					}
					return bytes
				})
			})
		})
	}
}

// sum reads keys and values of at most n entries, and returns their total length.
func sum(first, next func() bool, it mergedIterator, n int) (bytes int) {
	for ok := first(); ok; ok = next() {
		bytes += len(it.Key()) + len(it.Value())
		if n--; n == 0 {
			break
		}
	}
	return bytes
}

// mergeInTurns times the same work with each engine in turns. All must read the same number of bytes.
func mergeInTurns(b *testing.B, all map[string]mergedIterator, operations int, work func(it mergedIterator) int) {
	want := 0
	var contenders []*contender
	for _, m := range mergers {
		it := all[m.name]
		c := &contender{name: m.name, do: func(int) error {
			got := work(it)
			if want = cmp.Or(want, got); got != want || it.Error() != nil {
				return fmt.Errorf("%d bytes, %v; want %d", got, it.Error(), want)
			}
			return nil
		}}
		if err := c.do(0); err != nil { // fills the caches
			b.Fatal(m.name, err)
		}
		contenders = append(contenders, c)
	}
	inTurns(b, 1, operations, contenders...)
}

// mergeOurs merges Iters of tables that share a cache.
func mergeOurs(b *testing.B, shape manifest.Table, parts [][]workload.Pair) mergedIterator {
	return closing(b, merge.New(nil, iters(b, shape, parts, nil)...), nil)
}

// mergeSnapshot merges tables as a storage engine does: they contain internal keys, and the iterator returns the
// user keys that are visible in a snapshot.
func mergeSnapshot(b *testing.B, shape manifest.Table, parts [][]workload.Pair) mergedIterator {
	internal := make([][]workload.Pair, len(parts))
	for i, pairs := range parts {
		for _, p := range pairs {
			p.Key = internalkey.Key{UserKey: p.Key, Sequence: uint64(i), Kind: internalkey.Set}.Append(nil)
			internal[i] = append(internal[i], p)
		}
	}
	order := table.InternalComparer(nil)
	its := iters(b, shape, internal, order)
	return closing(b, merge.NewSnapshotIter(nil, merge.New(order, its...), internalkey.MaxSequence), nil)
}

// iters writes tables of the parts, and returns their Iters.
func iters(b *testing.B, shape manifest.Table, parts [][]workload.Pair, order table.Comparer) (its []merge.Iterator) {
	wo := ours.Options(shape)
	wo.Comparer = order
	ro := &table.ReaderOptions{Comparer: order, Cache: table.NewCache(lookupCache)}
	for _, pairs := range parts {
		r := tabletest.Open(b, tabletest.Build(b, wo, pairs), ro)
		its = append(its, closing(b, r, nil).NewIter(nil))
	}
	return its
}

// A goleveldbIterator is goleveldb's Iterator, whose Seek is called SeekGE.
type goleveldbIterator struct{ iterator.Iterator }

func (it goleveldbIterator) SeekGE(key []byte) bool { return it.Seek(key) }

// mergeGoleveldb merges goleveldb tables, with or without a cache.
func mergeGoleveldb(cached bool) func(*testing.B, manifest.Table, [][]workload.Pair) mergedIterator {
	return func(b *testing.B, shape manifest.Table, parts [][]workload.Pair) mergedIterator {
		var tables [][]byte
		for _, pairs := range parts {
			contents, err := goleveldb.Write(goleveldb.Options(shape), pairs)
			noError(b, err)
			tables = append(tables, contents)
		}
		var its []iterator.Iterator
		for _, r := range openGoleveldbs(b, shape, cached, tables...) {
			its = append(its, r.NewIterator(nil, nil))
		}
		it := iterator.NewMergedIterator(its, comparer.DefaultComparer, true)
		b.Cleanup(it.Release)
		return goleveldbIterator{it}
	}
}

// pebbleTables writes a table of each part to o.FS, and returns their names.
func pebbleTables(b *testing.B, o *cockroach.Options, parts [][]workload.Pair) (names []string) {
	for i, pairs := range parts {
		names = append(names, fmt.Sprint(i, ".sst"))
		noError(b, pebble.WriteTable(o.FS, names[i], pebble.LastLevel(o), setAll(pairs)))
	}
	return names
}

// mergePebble has a database ingest the tables one by one. They overlap, so each gets a level or a sublevel of its
// own. They are not compacted.
func mergePebble(b *testing.B, shape manifest.Table, parts [][]workload.Pair) mergedIterator {
	o := pebbleOptions(vfs.NewMem(), shape, lookupCache)
	o.DisableAutomaticCompactions = true
	o.L0StopWritesThreshold = 1 + len(parts)
	db, err := cockroach.Open("db", o)
	closing(b, db, err)
	for _, name := range pebbleTables(b, o, parts) {
		err = errors.Join(err, db.Ingest(context.Background(), []string{name}))
	}
	noError(b, err)
	it, err := db.NewIter(nil)
	return closing(b, it, err)
}

// mergePebbleExternal merges tables that are in no database, each as a level of its own, without a cache.
func mergePebbleExternal(b *testing.B, shape manifest.Table, parts [][]workload.Pair) mergedIterator {
	o := pebbleOptions(vfs.NewMem(), shape, 0)
	var levels [][]sstable.ReadableFile
	for _, name := range pebbleTables(b, o, parts) {
		f, err := o.FS.Open(name)
		noError(b, err)
		levels = append(levels, []sstable.ReadableFile{f})
	}
	it, err := cockroach.NewExternalIter(o, nil, levels)
	return closing(b, it, err)
}
