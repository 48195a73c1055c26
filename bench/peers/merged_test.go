package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/ours"
	"github.com/sievetable/sievetable/bench/peers/internal/pebble"
	"github.com/sievetable/sievetable/internal/workload"
)

// deal deals the set's entries to n tables by random.
func deal(set workload.Set, n int) []engine.Pairs {
	rng := rand.New(rand.NewPCG(8, 8))
	keys, values := make([][][]byte, n), make([][][]byte, n)
	for i, k := range set.Keys {
		t := rng.IntN(n)
		keys[t], values[t] = append(keys[t], k), append(values[t], set.Values[i])
	}
	parts := make([]engine.Pairs, n)
	for t := range parts {
		parts[t] = engine.Pairs{Keys: engine.Pack(keys[t]), Values: engine.Pack(values[t])}
	}
	return parts
}

// A mergedColumn is an engine's iterator over the tables, and what its work took.
type mergedColumn struct {
	name string
	engine.Merged
	took []time.Duration
}

// mergedColumns has each engine merge the tables.
func mergedColumns(b *testing.B, parts []engine.Pairs, o engine.Options) (all []*mergedColumn) {
	b.Helper()
	for _, e := range []struct {
		name string
		engine.Merger
	}{
		{"sievetable", ours.Engine{}},
		{"sievetable-snapshot", ours.Snapshots{}},
		{"goleveldb", goleveldb.Engine{}},
		{"goleveldb-cached", goleveldb.Engine{Cache: true}},
		{"pebble", pebble.Engine{}},
		{"pebble-external", pebble.External{}},
	} {
		m, err := e.Merge(parts, o)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { m.Close() })
		all = append(all, &mergedColumn{name: e.name, Merged: m})
	}
	return all
}

// BenchmarkMerged iterates over W1, dealt to eight tables. All engines take turns at it. For
// each it reports the median of ns for an entry of a scan, or for a seek and ten moves.
func BenchmarkMerged(b *testing.B) {
	n, seeks := 1_000_000, 5_000
	if testing.Short() {
		n, seeks = 10_000, 100
	}
	set := workload.W1(n)
	parts := deal(set, 8)
	hits := engine.PackSome(set.Keys, set.Hits[:seeks])
	for _, o := range []engine.Options{{BitsPerKey: 10}, {BitsPerKey: 10, Snappy: true}} {
		name := "none"
		if o.Snappy {
			name = "snappy"
		}
		b.Run("compression="+name, func(b *testing.B) {
			all := mergedColumns(b, parts, o)
			b.Run("scan=forward", func(b *testing.B) {
				takeTurns(b, all, n, func(m engine.Merged) (int64, error) { return m.Scan(false) })
			})
			b.Run("scan=backward", func(b *testing.B) {
				takeTurns(b, all, n, func(m engine.Merged) (int64, error) { return m.Scan(true) })
			})
			b.Run("seek+10", func(b *testing.B) {
				takeTurns(b, all, seeks, func(m engine.Merged) (int64, error) { return m.SeekScan(hits, 10) })
			})
		})
	}
}

// takeTurns has each engine do the work, which is that of so many operations, in each iteration.
func takeTurns(b *testing.B, all []*mergedColumn, operations int, work func(m engine.Merged) (int64, error)) {
	for _, c := range all {
		c.took = nil
		if _, err := work(c.Merged); err != nil { // fills the caches
			b.Fatal(err)
		}
	}
	for b.Loop() {
		want := int64(0)
		for _, c := range all {
			start := time.Now()
			got, err := work(c.Merged)
			c.took = append(c.took, time.Since(start))
			if err != nil || cmp.Or(want, got) != got {
				b.Fatalf("%s: %d bytes, %v; want %d", c.name, got, err, want)
			}
			want = got
		}
	}
	for _, c := range all {
		slices.Sort(c.took)
		b.ReportMetric(float64(c.took[len(c.took)/2].Nanoseconds())/float64(operations), c.name+"-ns")
	}
}
