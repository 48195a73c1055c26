package bench

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

var internalOrder = table.InternalComparer(table.BytewiseComparer)

// split writes each entry of the set to one of n tables, chosen by part, and opens them. Each table has a block cache
// that holds all of it.
func split(b *testing.B, set workload.Set, n int, part func(i int) int) []*table.Reader {
	b.Helper()
	parts, readers := make([][]workload.Pair, n), make([]*table.Reader, n)
	for i, p := range set.Pairs() {
		p.Key = internalkey.Key{UserKey: p.Key, Sequence: uint64(i), Kind: internalkey.Set}.Append(nil)
		parts[part(i)] = append(parts[part(i)], p)
	}
	for t, pairs := range parts {
		contents := tabletest.Build(b, &table.WriterOptions{Comparer: internalOrder}, pairs)
		readers[t] = tabletest.Open(b, contents, &table.ReaderOptions{Comparer: internalOrder, Cache: table.NewCache(1 << 30)})
	}
	return readers
}

// levelOf returns an iterator over the tables as one level.
func levelOf(b *testing.B, readers []*table.Reader) merge.Iterator {
	b.Helper()
	tables := make([]merge.LevelTable, len(readers))
	for i, r := range readers {
		it := r.NewIter(nil)
		it.First()
		tables[i].Smallest = bytes.Clone(it.Key())
		it.Last()
		tables[i].Largest = bytes.Clone(it.Key())
		noError(b, it.Close())
	}
	it, err := merge.NewLevelIter(internalOrder, tables, func(i int) (merge.Iterator, error) { return readers[i].NewIter(nil), nil })
	noError(b, err)
	return it
}

func itersOf(readers []*table.Reader) (its []merge.Iterator) {
	for _, r := range readers {
		its = append(its, r.NewIter(nil))
	}
	return its
}

// BenchmarkMerging scans 200,000 entries in one table, in four and eight overlapping tables, and in a level of
// eight tables. The table and the level are scanned both directly and through a merge of one iterator. A snapshot
// merges the four tables with the level, so each entry appears twice. An operation is one entry.
func BenchmarkMerging(b *testing.B) {
	set := workload.W1(200_000)
	one := split(b, set, 1, func(int) int { return 0 })
	four := split(b, set, 4, func(i int) int { return int(set.Keys[i][15]) % 4 })
	rng := rand.New(rand.NewPCG(8, 8))
	dealt := make([]int, len(set.Keys))
	for i := range dealt {
		dealt[i] = rng.IntN(8)
	}
	random := split(b, set, 8, func(i int) int { return dealt[i] })
	eight := split(b, set, 8, func(i int) int { return i * 8 / len(set.Keys) })
	both := append(itersOf(four), levelOf(b, eight))
	for _, over := range []struct {
		name string
		it   merge.Iterator
	}{
		{"table", one[0].NewIter(nil)},
		{"1-merged", merge.New(internalOrder, itersOf(one)...)},
		{"4-merged", merge.New(internalOrder, itersOf(four)...)},
		{"8-merged", merge.New(internalOrder, itersOf(random)...)},
		{"level-of-8", levelOf(b, eight)},
		{"level-of-8-merged", merge.New(internalOrder, levelOf(b, eight))},
		{"snapshot", merge.NewSnapshotIter(table.BytewiseComparer, merge.New(internalOrder, both...), internalkey.MaxSequence)},
	} {
		b.Run("over="+over.name, func(b *testing.B) { scanForward(b, over.it) })
	}
}

func scanForward(b *testing.B, it merge.Iterator) {
	for ok := it.First(); ok; ok = it.Next() { // fill the caches
	}
	sum := byte(0)
	b.ReportAllocs()
	for b.Loop() {
		if !it.Next() && !it.First() {
			b.Fatal(it.Error())
		}
		sum += it.Key()[0] + it.Value()[0]
	}
}
