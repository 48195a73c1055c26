package fuse_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
)

// lookedUp is the number of absent keys that the benchmark looks up, one after another: enough that the parts of the
// filter that they need do not all stay in the processor's cache.
const lookedUp = 1 << 20

// A policyToMeasure is a filter of the benchmark.
type policyToMeasure struct {
	name  string
	build func(n int) (contents []byte, contains func(key []byte) bool)
}

// BenchmarkFilters measures filters of 10⁴ to 10⁷ keys, of this package and of package filter. Lookups are of absent
// keys. Before them, each present key is looked up, to check that the filter contains it.
func BenchmarkFilters(b *testing.B) {
	most := long.Size(10_000, 10_000_000)
	for _, p := range policiesToMeasure(b) {
		for n := 10_000; n <= most; n *= 10 {
			b.Run(fmt.Sprintf("%s/n=%d", p.name, n), func(b *testing.B) { measure(b, p, n) })
		}
	}
}

func policiesToMeasure(b *testing.B) []policyToMeasure {
	var all []policyToMeasure
	for _, bits := range allBits {
		all = append(all, ofTable(b, fmt.Sprintf("fuse:%d", bits), newPolicy(b, bits)))
	}
	for _, bits := range []int{10, 14, 20} {
		all = append(all, ofTable(b, fmt.Sprintf("tablebloom:%d", bits), filter.NewTableBloom(bits)), leveldb(bits))
	}
	return all
}

func ofTable(b *testing.B, name string, p filter.TablePolicy) policyToMeasure {
	return policyToMeasure{
		name: name,
		build: func(n int) ([]byte, func(key []byte) bool) {
			contents := build(b, p, n)
			f, err := p.Open(contents)
			noError(b, err)
			return contents, f.Contains
		},
	}
}

// leveldb is a single filter of filter.Bloom for all keys.
func leveldb(bitsPerKey int) policyToMeasure {
	p := filter.NewBloom(bitsPerKey)
	return policyToMeasure{
		name: fmt.Sprintf("bloom:%d", bitsPerKey),
		build: func(n int) ([]byte, func(key []byte) bool) {
			g, keys := p.NewGenerator(), newKeys(1)
			for range n {
				g.Add(keys.next())
			}
			var contents filter.Bytes
			g.Generate(&contents)
			return contents, func(key []byte) bool { return p.Contains(contents, key) }
		},
	}
}

func measure(b *testing.B, p policyToMeasure, n int) {
	start := time.Now()
	contents, contains := p.build(n)
	building, keys := time.Since(start), newKeys(1)
	for i := range n {
		if !contains(keys.next()) {
			b.Fatalf("key %d of %d is denied", i, n)
		}
	}
	absent, passed := newKeys(2), 0
	lookups := max(b.N, lookedUp)
	for range lookups {
		if contains(absent.next()) {
			passed++
		}
	}
	toLookUp := make([][16]byte, lookedUp)
	for i := range toLookUp {
		toLookUp[i] = [16]byte(absent.next())
	}
	b.ResetTimer()
	for i := range b.N {
		contains(toLookUp[i%lookedUp][:])
	}
	b.ReportMetric(float64(building.Nanoseconds())/float64(n), "build-ns/key")
	b.ReportMetric(8*float64(len(contents))/float64(n), "bits/key")
	b.ReportMetric(100*float64(passed)/float64(lookups), "%-false-positives")
}
