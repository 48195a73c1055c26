package bench

import (
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkCached runs the other benchmarks with a block cache that contains the whole table.
func BenchmarkCached(b *testing.B) {
	eachTable(b, func(b *testing.B, set workload.Set, contents []byte) {
		var m table.Metrics
		r := tabletest.Open(b, contents, &table.ReaderOptions{Cache: table.NewCache(2 << 30), Metrics: &m})
		it := r.NewIter(nil)
		for it.Next() {
		}
		run := func(name string, do func(i int) error) {
			b.Run("op="+name, func(b *testing.B) {
				before := m.BlocksRead.Load()
				loop(b, do)
				b.ReportMetric(float64(m.BlocksRead.Load()-before)/float64(b.N), "blocks/op")
			})
		}
		run("absent", absent(r, set))
		run("present", present(r, set))
		run("next", func(int) error {
			if !it.Next() && !it.First() {
				return it.Error()
			}
			return nil
		})
		run("prev", func(int) error {
			if !it.Prev() && !it.Last() {
				return it.Error()
			}
			return nil
		})
	})
}
