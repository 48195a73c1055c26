package filter_test

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
)

func BenchmarkTableContains(b *testing.B) {
	w := workload.W1(long.Size(10_000, 1_000_000))
	r := openTable(b, filtertest.BuildTable(b, filter.NewTableBloom(10), w.Keys...))
	for _, of := range []struct {
		name string
		keys [][]byte
	}{{"hit", w.Keys}, {"miss", w.Absent}} {
		b.Run(of.name, func(b *testing.B) {
			b.ReportAllocs()
			positives, i := 0, 0
			for ; b.Loop(); i++ {
				if r.Contains(of.keys[i%len(of.keys)]) {
					positives++
				}
			}
			b.ReportMetric(float64(positives)/float64(i), "positives/op")
		})
	}
}
