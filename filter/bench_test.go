package filter_test

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/workload"
)

// The filters have the size of a table's block filters, for the 16-byte keys of a 4 KiB block.
const keysPerFilter = 35

func BenchmarkContains(b *testing.B) {
	w := workload.W1(10_000)
	p := filter.NewBloom(10)
	f := filtertest.Build(p, w.Keys[:keysPerFilter]...)
	b.Run("hit", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			p.Contains(f, w.Keys[i%keysPerFilter])
		}
	})
	b.Run("miss", func(b *testing.B) {
		b.ReportAllocs()
		positives, i := 0, 0
		for ; b.Loop(); i++ {
			if p.Contains(f, w.Absent[i%len(w.Absent)]) {
				positives++
			}
		}
		b.ReportMetric(float64(positives)/float64(i), "falsepositives/op")
	})
}

func BenchmarkGenerate(b *testing.B) {
	w := workload.W1(10_000)
	g := filter.NewBloom(10).NewGenerator()
	var f filter.Bytes
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		g.Add(w.Keys[i%len(w.Keys)])
		if i%keysPerFilter == keysPerFilter-1 {
			f = f[:0]
			g.Generate(&f)
		}
	}
}
