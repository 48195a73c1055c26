package bench

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkFilters looks up keys of W1 that are not there, in tables with filters by
// data blocks, of the whole table, or both, without a cache: bits/key is what the
// filters take.
func BenchmarkFilters(b *testing.B) {
	set := w1()
	blocks, whole := filter.NewBloom(10), filter.NewTableBloom(10)
	for _, tt := range []struct {
		name string
		o    table.WriterOptions
	}{
		{"blocks", table.WriterOptions{FilterPolicy: blocks}},
		{"table", table.WriterOptions{TableFilterPolicy: whole}},
		{"both", table.WriterOptions{FilterPolicy: blocks, TableFilterPolicy: whole}},
	} {
		b.Run("of="+tt.name, func(b *testing.B) {
			tt.o.Properties = true
			var out bytes.Buffer
			writeTable(b, &out, set, &tt.o)
			var m table.Metrics
			r := open(b, out.Bytes(), &table.ReaderOptions{Metrics: &m})
			p, err := r.Properties()
			if err != nil {
				b.Fatal(err)
			}
			look := absent(set)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := look(r, i); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(m.DataBlocks.Load())/float64(m.Lookups.Load()), "blocks/lookup")
			b.ReportMetric(8*float64(p.FilterSize)/float64(p.Entries), "bits/key")
		})
	}
}
