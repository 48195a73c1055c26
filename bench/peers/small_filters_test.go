package main

import (
	"testing"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
)

// BenchmarkSmallFilters builds and asks the filters of data blocks, of 40 keys, beside goleveldb's. ns/op is
// for a key.
func BenchmarkSmallFilters(b *testing.B) {
	const keys = 40
	w := workload.W1(100_000)
	filters := len(w.Keys) / keys
	ours, theirs := filter.NewBloom(10), lfilter.NewBloomFilter(10)
	all := make([]filter.Bytes, filters)
	ourGen, theirGen := ours.NewGenerator(), theirs.NewGenerator()
	for i := range all {
		for _, k := range w.Keys[i*keys : (i+1)*keys] {
			ourGen.Add(k)
		}
		ourGen.Generate(&all[i])
	}
	build := func(add func([]byte), generate func()) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			rest := w.Keys
			for i := 0; i < b.N; i += keys {
				for _, k := range rest[:keys] {
					add(k)
				}
				generate()
				if rest = rest[keys:]; len(rest) < keys {
					rest = w.Keys
				}
			}
		}
	}
	buffer, reused := util.NewBuffer(nil), make(filter.Bytes, 0, 100)
	b.Run("build/engine=sievetable", build(ourGen.Add, func() { reused = reused[:0]; ourGen.Generate(&reused) }))
	b.Run("build/engine=goleveldb", build(theirGen.Add, func() { buffer.Reset(); theirGen.Generate(buffer) }))
	ask := func(contains func(filter, key []byte) bool, of [][]byte) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			yes, block := 0, 0
			for i := 0; i < b.N; i += keys {
				for _, k := range of[block*keys : (block+1)*keys] {
					if contains(all[block], k) {
						yes++
					}
				}
				if block++; block == filters {
					block = 0
				}
			}
			b.ReportMetric(float64(yes)/float64(b.N), "yes/op")
		}
	}
	for _, of := range []struct {
		name string
		keys [][]byte
	}{{"present", w.Keys}, {"absent", w.Absent}} {
		b.Run(of.name+"/engine=sievetable", ask(ours.Contains, of.keys))
		b.Run(of.name+"/engine=goleveldb", ask(theirs.Contains, of.keys))
	}
}
