package report

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// The page predicts the same rates as sst stats: for small and large filters, for which the classical formula is
// wrong, for table filters, and for a table with versions of a key in adjacent blocks.
func TestRatesAreThoseOfStats(t *testing.T) {
	t.Parallel()
	versions := internalOptions(both)
	versions.BlockSize = 1
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		pairs []workload.Pair
		shown []string // in the section about filters
	}{
		{"large", table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterBaseLg: 30}, plainPairs(100_000),
			[]string{"keys 100,000 bits per key 10.00 probes, k 6", "predicted false positives 1.44 %", "The only filter has 1.44 % predicted false positives, k = 6."}},
		{"small", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, plainPairs(1000), []string{"keys 1,000", "predicted false positives 0.9209 %"}},
		{"reserved", table.WriterOptions{FilterPolicy: reserved{filter.NewBloom(10)}}, plainPairs(1000), []string{"predicted false positives 100.0 %"}},
		{"whole table", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, plainPairs(10_000), []string{"keys 10,000", "predicted false positives 1.14 %"}},
		{"versions", versions, workload.Versions(workload.Writes(4, 900, 30)), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := openTable(t, writeTable(t, "t.ldb", tt.o, tt.pairs))
			s, err := tablestats.Collect(f, f.Wrap, tablestats.NewBudget(1))
			noError(t, err)
			m, err := New(f, Options{})
			noError(t, err)
			var got []tablestats.FilterStats
			for _, shown := range []*Filter{m.Filter, m.Whole} {
				if shown != nil {
					got = append(got, shown.FilterStats)
				}
			}
			if diff := cmp.Diff(s.Filters, got); diff != "" {
				t.Errorf("filters (-stats +report):\n%s", diff)
			}
			page := pagetest.Open(t, writePage(t, f, Options{}), 1000)
			for _, want := range tt.shown {
				checkContains(t, page, "#filters", want)
			}
		})
	}
}

// If blocks are damaged, the number of keys in a filter is estimated. The page shows the same rate as sst stats.
func TestRateOfDamagedTable(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterBaseLg: 30, Compression: table.NoCompression}
	path := writeTable(t, "t.ldb", o, plainPairs(30_000))
	for offset := int64(100); offset < 280_000; offset += 5000 {
		flipAt(t, path, offset)
	}
	f := openTable(t, path)
	s, _ := tablestats.Collect(f, f.Wrap, tablestats.NewBudget(1)) // the error is the damage
	page := pagetest.Open(t, writePage(t, f, Options{}), 1000)
	for _, before := range []string{"predicted false positives", "The only filter has"} {
		checkContains(t, page, "#filters", fmt.Sprintf("%s %.2f %%", before, 100*s.Filters[0].Predicted))
	}
}
