package tablestats

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// The number of lookups in a filter is proportional to its keys. All tables of a command share a limit of a few
// seconds.
func TestLookupsAreBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tables, keys int
		predicted    float64
		want         int
	}{
		{1, 53, 0.01, 10_000}, {1, 53, 0.008, 12_500}, {1, 53, 1, 10_000}, {1, 53, 1e-9, 30_000}, {1, 53, 0, 30_000},
		{1, 0, 0, 30_000}, {1, unknownCount, 0.01, 10_000}, {1, 1001, 0.01, 10_010}, {1, 29_999, 0.01, 299_990},
		{1, 30_000, 0.01, 300_000}, {1, maxFilterKeys, 0.01, 300_000}, {0, maxFilterKeys, 0.01, 300_000},
		{100, maxFilterKeys, 0.01, 300_000}, {1000, 53, 0.01, 10_000}, {1000, maxFilterKeys, 0.01, 30_000},
		{16_000, 53, 0.01, 1875}, {16_000, maxFilterKeys, 0.01, 1875}, {100_000, 53, 0.01, 1000}, {1 << 30, maxFilterKeys, 0, 1000},
	} {
		if diff := cmp.Diff(tt.want, NewBudget(tt.tables).lookupsFor(tt.keys, tt.predicted)); diff != "" {
			t.Errorf("%d keys in one of %d tables, %g predicted (-want +got):\n%s", tt.keys, tt.tables, tt.predicted, diff)
		}
	}
	policies := table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}
	for _, f := range statsOf(t, policies, w1(2000)).Filters {
		if f.Lookups != 20_000 {
			t.Errorf("whole %v: %d lookups, want 10 for each of 2,000 keys", f.WholeTable, f.Lookups)
		}
	}
}

// However many and however different the tables are, few rates are predicted.
func TestPredictionsAreBounded(t *testing.T) {
	t.Parallel()
	b := NewBudget(1000)
	for i := range 1000 {
		filters := []BloomBits{{Array: make([]byte, 8+i%400), K: 1, Keys: 1 + i}}
		if rate := b.predict(filters)[0]; !(rate > 0 && rate <= 1) {
			t.Errorf("table %d: predicted rate %g", i, rate)
		}
	}
	if n := len(b.exact); n < exactPredictions || n > maxPredictions {
		t.Errorf("%d predictions, want %d to %d", n, exactPredictions, maxPredictions)
	}
	if first := (shape{keys: 1, bits: 64, k: 1}); b.ratio(first, first.kind()) != first.ratio() {
		t.Error("the first prediction is not exact")
	}
}
