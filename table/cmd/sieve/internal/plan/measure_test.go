package plan

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// designs returns a Design of each kind, with rates that few lookups can measure.
func designs() []Design {
	const blockSize = 4096
	return []Design{
		newDesign(6, tableFilter{}, blockSize),
		newDesign(0, tableFilter{bloomBits: 8}, blockSize),
		newDesign(3, tableFilter{bloomBits: 4}, blockSize),
		newDesign(0, tableFilter{fuseBits: 8}, blockSize),
		newDesign(0, tableFilter{bloomBits: 8}, 0),
		newDesign(0, tableFilter{fuseBits: 4}, 0),
		newDesign(0, tableFilter{fuseBits: 10}, 0),
	}
}

// writerOptions returns the options for writing tables of the Design.
func (d Design) writerOptions() *table.WriterOptions {
	o := &table.WriterOptions{TableFilterPolicy: d.table.policy(), FilterOnly: d.FilterOnly, Compression: table.NoCompression, Properties: true}
	if d.BlockBits > 0 {
		o.FilterPolicy = filter.NewBloom(d.BlockBits)
	}
	return o
}

// sortedKeys returns the first n random keys, in order.
func sortedKeys(n int) [][]byte {
	random, keys := randomKeys(), make([][]byte, n)
	for i := range keys {
		keys[i] = slices.Clone(random())
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

// writeTable writes a table of the Design, with random keys.
func writeTable(t *testing.T, d Design, n, valueSize int) []byte {
	t.Helper()
	if d.FilterOnly {
		valueSize = 0
	}
	return tableOf(t, d.writerOptions(), sortedKeys(n), valueSize)
}

// tableOf returns a table of sorted keys, with values of this size.
func tableOf(t *testing.T, o *table.WriterOptions, keys [][]byte, valueSize int) []byte {
	t.Helper()
	pairs, value := make([]workload.Pair, len(keys)), make([]byte, valueSize)
	for i, key := range keys {
		pairs[i] = workload.Pair{Key: key, Value: value}
	}
	return tabletest.Build(t, o, pairs)
}

func openTable(t *testing.T, file []byte) *table.Reader {
	t.Helper()
	r, err := table.NewReader(bytes.NewReader(file), int64(len(file)), &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{fuse.Policy{}}})
	noError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// The rate measured for a Design equals the rate of its tables, and the predicted rate.
func TestMeasuredIsWhatTablesMeasure(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n, valueSize, lookups = 50_000, 100, 200_000
	for _, d := range designs() {
		q := usual(n, 0)
		q.BitsPerKey, q.ValueSize = 1, valueSize
		o, err := q.measured(d)
		noError(t, err)
		r, absent, hits := openTable(t, writeTable(t, d, n, valueSize)), randomKeys(), 0
		for range n {
			absent() // present
		}
		for range lookups {
			if filetest.MayContain(r, absent()) {
				hits++
			}
		}
		got := newMeasurement([]int{hits}, lookups, n)
		if diff := math.Abs(got.MeasuredRate - o.MeasuredRate); diff > 2*(got.Band+o.Band) {
			t.Errorf("%s: the table's rate is %v, the plan's %v", o.filters(), got, o.Measurement)
		}
		if math.Abs(o.PredictedRate/o.MeasuredRate-1) > 0.15 {
			t.Errorf("%s: measured %v, predicted %s", o.filters(), o.Measurement, percent(o.PredictedRate))
		}
	}
}

// The errors of the two filters are not independent: with few keys in a block, four times as many lookups are
// false positives of both, and with many keys, some have equal hashes.
func TestPredictedRateOfBothFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct {
		keySize, blockSize uint64
		blocks, bloom      int
		most               float64 // times the other rate
	}{
		{1000, 4096, 20, 20, 1.5},
		{1000, 4096, 10, 10, 1.5},
		{2000, 4096, 10, 10, 1.5},
		{64, 4096, 8, 8, 1.15},
		{16, 1 << 20, 16, 8, 1.15},
	} {
		q := usual(100_000, 0)
		q.BitsPerKey, q.KeySize, q.TableSize = 1, tt.keySize, 4<<30
		o, err := q.measured(newDesign(tt.blocks, tableFilter{bloomBits: tt.bloom}, tt.blockSize))
		noError(t, err)
		if ratio := o.MeasuredRate / o.PredictedRate; ratio < 1/tt.most || ratio > tt.most {
			t.Errorf("%s with %d keys per block: measured %v, predicted %s", o.filters(), o.KeysPerFilter, o.Measurement, percent(o.PredictedRate))
		}
	}
}

// The rates in filter/README.md for filters of 35 keys match measurements.
func TestRatesOfDataBlocks(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for bits, want := range map[int]float64{4: 0.17, 8: 0.025, 10: 0.0099, 16: 0.0015, 20: 0.0006} {
		q := usual(1e6, 0)
		q.BitsPerKey, q.ValueSize = bits, 100
		o, err := findBloom(q)
		noError(t, err)
		if o.KeysPerFilter != 35 || math.Abs(o.MeasuredRate/want-1) > 0.15 {
			t.Errorf("%d bits: measured %v in filters of %d keys, want %s in those of 35", bits, o.Measurement, o.KeysPerFilter, percent(want))
		}
	}
}

// The number of bits that is found reaches the rate, and no smaller number does.
func TestFewestBits(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	q := usual(1e5, 0.01)
	for _, find := range []finder{findBloom, findTableBloom, findBoth} {
		o, err := find(q)
		if err != nil || !o.MeetsRate || o.MeasuredRate > q.Rate {
			t.Errorf("%s: rate %v, %v", o.filters(), o.Measurement, err)
		}
		d := o.Design
		fewer := newDesign(max(0, d.BlockBits-1), d.table, d.BlockSize)
		if d.BlockBits == 0 {
			fewer = newDesign(0, tableFilter{bloomBits: d.table.bloomBits - 1}, d.BlockSize)
		}
		if fewer.filters() == "" || fewer.table == d.table && d.BlockBits == 0 {
			t.Fatalf("%s: no filters with fewer bits", d.filters())
		}
		if o, err := q.measured(fewer); err != nil || o.MeetsRate {
			t.Errorf("%s reach it too: rate %v, %v", o.filters(), o.Measurement, err)
		}
	}
}

// For a given number of bits per key, each kind has about that many.
func TestBits(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	q := usual(1000, 0)
	q.BitsPerKey = 12
	for want, find := range map[string]finder{"bloom:12": findBloom, "table-bloom:12": findTableBloom, "bloom:6+table-bloom:6": findBoth} {
		if o, err := find(q); err != nil || o.filters() != want {
			t.Errorf("filters %s, %v, want %s", o.filters(), err, want)
		}
	}
	for bits, want := range map[int]int{1: 0, 3: 0, 4: 4, 7: 4, 8: 8, 10: 8, 12: 10, 13: 12, 15: 14, 16: 14, 17: 16, 20: 16, 100: 16} {
		if got := (Query{BitsPerKey: bits}).chosenFuse(); got != want {
			t.Errorf("%d bits: fingerprints of %d, want %d", bits, got, want)
		}
	}
	for rate, want := range map[float64]int{0.5: 4, 0.0625: 4, 0.01: 8, 1e-3: 10, 1e-4: 14, 2e-5: 16, 1e-6: 16} {
		if got := (Query{Rate: rate}).chosenFuse(); got != want {
			t.Errorf("rate %g: fingerprints of %d, want %d", rate, got, want)
		}
	}
}

// Few false positives give a bound, not a rate. The band is wider if filters differ.
func TestMeasurement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hits    []int
		lookups int
		want    string
		upper   float64
	}{
		{[]int{0}, 1000, "< 0.30 %", 0.003},
		{[]int{4}, 1_000_000, "< 0.00080 %", 0.000008},
		{[]int{25}, 1_000_000, "0.0025 ± 0.0010 %", 0.00003},
		{[]int{1}, 1_000_000, "< 0.00030 %", 0.000003},
		{[]int{400}, 10_000, "4.0 ± 0.4 %", 0.042},
		{[]int{10_000}, 10_000, "100 ± 2 %", 1.01},
		{[]int{100, 100, 100, 100}, 10_000, "4.0 ± 0.4 %", 0.042},
		{[]int{120, 100, 100, 80}, 10_000, "4.0 ± 0.6 %", 0.0428284271},
	} {
		m := newMeasurement(tt.hits, tt.lookups, 1)
		if m.String() != tt.want || math.Abs(m.upper()/tt.upper-1) > 1e-7 {
			t.Errorf("%d of %d: %s, upper %g, want %s and %g", tt.hits, tt.lookups, m, m.upper(), tt.want, tt.upper)
		}
	}
}
