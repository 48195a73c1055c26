package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// writePairs writes a table of the Design, with its block size.
func writePairs(t *testing.T, d Design, keys [][]byte) *table.Reader {
	t.Helper()
	o := d.writerOptions()
	o.BlockSize, o.Compression = int(d.BlockSize), table.Snappy
	return openTable(t, tableOf(t, o, keys, 0))
}

// The rates measured with a sample equal the rates of tables of its keys, for neighbors of these keys. For
// consecutive numbers, they differ from the rates for random keys.
func TestRatesOfSample(t *testing.T) {
	long.NoRace(t)
	long.Test(t)
	t.Parallel()
	for _, tt := range []struct {
		name      string
		keys      [][]byte
		tolerance float64
	}{{"URLs", workload.W3(60_000).Keys, 0.05}, {"numbers", numbers(60_000), 0.3}} { // for numbers, tables differ
		s := sampleOf(t, pairsOf(workload.Set{Keys: tt.keys}), 60_000, limits{maxSampleKeys, maxSampleBytes})
		r := rand.New(rand.NewPCG(3, 3))
		var absent [][]byte
		present := slices.DeleteFunc(slices.Clone(tt.keys), func(key []byte) bool {
			if r.IntN(2) == 0 {
				absent = append(absent, key)
				return true
			}
			return false
		})
		for _, d := range designs()[:3] {
			q := Query{Keys: uint64(len(present)), BitsPerKey: 1, BlockSize: 4096, TableSize: 4 << 30, Sample: s}
			o, err := q.measured(d)
			noError(t, err)
			hits, table := 0, writePairs(t, d, present)
			for _, key := range absent {
				if filetest.MayContain(table, key) {
					hits++
				}
			}
			got := newMeasurement([]int{hits}, len(absent), len(present))
			if diff := math.Abs(got.MeasuredRate - o.MeasuredRate); diff > 2*(got.Band+o.Band)+tt.tolerance*o.MeasuredRate {
				t.Errorf("%s: %s: the table's rate is %v, the plan's %v", tt.name, o.filters(), got, o.Measurement)
			}
		}
	}
}

// The disk space and the memory planned for a sample match a table of its keys, with filters.
func TestSizesOfSample(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	list := workload.W3(60_000).Keys
	for _, blockSize := range []uint64{1 << 10, 4 << 10, 32 << 10} {
		q := Query{Keys: uint64(len(list)), BlockSize: blockSize, TableSize: 4 << 30}
		q.Sample = sampleOf(t, pairsOf(workload.Set{Keys: list}), q.Keys, limits{maxSampleKeys, maxSampleBytes})
		o := q.option(newDesign(10, tableFilter{bloomBits: 6}, blockSize))
		r := writePairs(t, o.Design, list)
		l, err := r.Layout()
		noError(t, err)
		for range 4 * len(l.Data) { // build the search tree
			_, _, err := r.FindGE(list[0])
			noError(t, err)
		}
		checkRatio(t, blockSize, "disk", o.DiskBytes, float64(l.Footer+format.FooterLen), 0.98, 1.02)
		checkRatio(t, blockSize, "memory", o.MemoryBytes, float64(r.MemorySize()), 0.95, 1.05)
	}
}

// Table filters without data, or with blocks of another size, are not measured again.
func TestSameFiltersAreMeasuredOnce(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	list := workload.W3(20_000)
	s := sampleOf(t, pairsOf(list), 20_000, limits{maxSampleKeys, maxSampleBytes})
	q := Query{Keys: 20_000, BitsPerKey: 1, TableSize: 4 << 30, Sample: s}
	var first Measurement
	for i, blockSize := range []uint64{4096, 8192, 0} {
		q.BlockSize = blockSize
		o, err := q.measured(newDesign(0, tableFilter{bloomBits: 8}, blockSize))
		noError(t, err)
		if i == 0 {
			first = o.Measurement
		}
		if o.Measurement != first || o.Lookups < minOwnLookups || len(s.trials) != 1 {
			t.Errorf("blocks of %d: %v after %d trials, want %v after 1", blockSize, o.Measurement, len(s.trials), first)
		}
	}
}

// Tables of one key have few absent keys beside them, which are not looked up again and again.
func TestSingleKeysNeedFewLookups(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	s := sampleOf(t, pairsOf(workload.W3(5000)), 5000, limits{maxSampleKeys, maxSampleBytes})
	q := Query{Keys: 5000, BitsPerKey: 1, BlockSize: 4096, TableSize: 4 << 30, EntriesPerTable: 1, Sample: s}
	o, err := q.measured(newDesign(0, tableFilter{bloomBits: 10}, q.BlockSize))
	noError(t, err)
	if o.Lookups < minOwnLookups || o.Lookups > 1.1*minOwnLookups {
		t.Errorf("%d lookups, want about %d", o.Lookups, minOwnLookups)
	}
}
