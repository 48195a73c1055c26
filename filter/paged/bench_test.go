package paged_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
)

// BenchmarkFilters measures filters of this package and of filter.TableBloom: building, and lookups of absent and of
// present keys in memory.
func BenchmarkFilters(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000, 10_000_000}[:long.Size(1, 3)] {
		for _, bits := range []int{10, 14, 20} {
			for _, p := range []filter.TablePolicy{newPolicy(b, bits), filter.NewTableBloom(bits)} {
				name := fmt.Sprintf("%s/bits=%d/n=%d", p.Name(), bits, n)
				keys := numbered(1, n)
				start := time.Now()
				g := p.NewTableGenerator()
				for _, key := range keys {
					g.Add(key)
				}
				contents, err := g.Generate()
				noError(b, err)
				building := time.Since(start)
				f, err := p.Open(contents)
				noError(b, err)
				for seed, kind := range []string{"absent", "present"} {
					keys := numbered(uint64(seed), min(n, 1<<20))
					b.Run(name+"/"+kind, func(b *testing.B) {
						for i := 0; b.Loop(); i++ {
							f.Contains(keys[i%len(keys)])
						}
						b.ReportMetric(float64(building.Nanoseconds())/float64(n), "build-ns/key")
					})
				}
			}
		}
	}
}

// BenchmarkFirstLookup measures the check of a page, at the first lookup in it.
func BenchmarkFirstLookup(b *testing.B) {
	contents := build(b, 10, numbered(1, 10_000))
	s := newReader(b, contents)
	for b.Loop() {
		noError(b, s.CheckPage(contents[:4096], 0))
	}
}
