package main

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// A getter gets values of an open table without a cache.
type getter struct {
	name string
	get  func(key []byte) error
	took []time.Duration // of each round
}

// BenchmarkGetMapped gets present keys of W1, uncompressed, in a random order: of ours mapped, with
// and without checksums, of ours read, and of goleveldb's read, which compares checksums too. They take
// turns of some thousand keys. The metrics are medians, in ns a key, and goleveldb's over ours.
func BenchmarkGetMapped(b *testing.B) {
	set := workload.W1(1_000_000)
	name := writeSet(b, set, table.NoCompression)
	all := getters(b, name)
	const keys = 5000
	for round := 0; b.Loop(); round++ {
		for _, g := range all {
			began := time.Now()
			for i := range keys {
				if err := g.get(set.Keys[set.Hits[(round*keys+i)%len(set.Hits)]]); err != nil {
					b.Fatal(g.name, err)
				}
			}
			g.took = append(g.took, time.Since(began))
		}
	}
	theirs := 0.0
	for _, g := range all { // goleveldb is the first
		slices.Sort(g.took)
		ns := float64(g.took[len(g.took)/2]) / keys
		b.ReportMetric(ns, g.name+"-ns")
		if theirs == 0 {
			theirs = ns
			continue
		}
		b.ReportMetric(theirs/ns, "x-"+g.name)
	}
}

// getters are goleveldb's and ours.
func getters(b *testing.B, name string) []*getter {
	b.Helper()
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	theirs, err := newTheirs(f, info.Size())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(theirs.Release)
	all := []*getter{{name: "goleveldb", get: func(key []byte) error { _, _, err := theirs.Find(key, true, nil); return err }}}
	for _, form := range []struct {
		name string
		o    table.ReaderOptions
	}{
		{"mapped", table.ReaderOptions{Mapped: true}},
		{"mapped-without-checksums", table.ReaderOptions{Mapped: true, SkipChecksums: true}},
		{"read", table.ReaderOptions{}},
	} {
		r, err := table.Open(name, &form.o)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { r.Close() })
		var value []byte
		all = append(all, &getter{name: form.name, get: func(key []byte) (err error) {
			value, err = r.AppendGet(value[:0], key)
			return err
		}})
	}
	return all
}
