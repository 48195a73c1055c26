package plan

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// Tables of each kind have the planned sizes.
func TestSizesAreWhatIsWritten(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n, valueSize = 100_000, 100
	for _, d := range designs() {
		q := usual(n, 0)
		q.ValueSize = valueSize
		o := q.option(d)
		file := writeTable(t, d, n, valueSize)
		filters := float64(properties(t, file).FilterSize)
		checkRatio(t, d, "filters", o.FilterBytes, filters, 0.98, 1.03)
		checkRatio(t, d, "bits per key", o.BitsPerKey, 8*filters/n, 0.98, 1.03)
		checkRatio(t, d, "disk", o.DiskBytes, float64(len(file)), 0.98, 1.03)
	}
}

// properties returns the properties of a table.
func properties(t *testing.T, file []byte) *layout.Properties {
	t.Helper()
	p, err := openTable(t, file).Properties()
	noError(t, err)
	return p
}

// A plan for compressed values or URLs comes close to the size of the written table. Unlike random keys, these
// keys share prefixes: data blocks are smaller, and separators longer.
func TestSizesOfKeysThatAreNotRandom(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n = 100_000
	half := workload.W1(n) // its values compress to half
	for _, tt := range []struct {
		name                string
		keySize, valueSize  uint64
		set                 workload.Set
		compression         table.Codec
		data, filter, index float64 // maximum ratio of planned to actual size
	}{
		{"uncompressed", 16, 100, half, table.NoCompression, 1.07, 1.05, 1.05},
		{"compressed", 16, 100, half, table.Snappy, 1.07, 1.1, 1.05},
		{"keys alone", 64, 0, workload.W3(n), table.NoCompression, 2, 1.6, 1.6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := properties(t, writeSet(t, tt.set, tt.compression))
			q := usual(n, 0)
			q.KeySize, q.ValueSize = tt.keySize, tt.valueSize
			if tt.compression == table.Snappy {
				uncompressed := properties(t, writeSet(t, tt.set, table.NoCompression))
				q.Compression = float64(got.DataSize) / float64(uncompressed.DataSize)
			}
			o := q.option(newDesign(10, tableFilter{}, q.BlockSize))
			checkRatio(t, tt.name, "data", o.DataBytes, float64(got.DataSize), 0.98, tt.data)
			checkRatio(t, tt.name, "filters", o.FilterBytes, float64(got.FilterSize), 0.98, tt.filter)
			checkRatio(t, tt.name, "index", o.IndexBytes, float64(got.IndexSize), 0.84, tt.index)
		})
	}
}

// writeSet writes a table of the set.
func writeSet(t *testing.T, set workload.Set, compression table.Codec) []byte {
	t.Helper()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: compression, Properties: true}
	return tabletest.Build(t, &o, set.Pairs())
}

// One key is one table, and large values get a table each.
func TestFewKeys(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	q := usual(1, 0)
	one := q.option(newDesign(10, tableFilter{}, q.BlockSize))
	if one.Tables != 1 || one.KeysPerFilter != 1 || one.FilterBytes != 8+1+4 {
		t.Errorf("one key: %+v", one)
	}
	q = usual(7, 0)
	q.ValueSize = 1 << 30
	for _, d := range designs() {
		o := q.option(d)
		if want := map[bool]float64{false: 7, true: 1}[d.FilterOnly]; o.Tables != want {
			t.Errorf("%s: %g tables, want %g", o.filters(), o.Tables, want)
		}
		_, err := q.measured(d)
		noError(t, err)
	}
}

// A table has at most the requested number of keys, or a million by default, and no more than its filter supports
// or is useful for.
func TestTablesOfManyKeys(t *testing.T) {
	t.Parallel()
	q := usual(1e10, 0)
	q.TableSize = 4 << 30
	for _, tt := range []struct {
		design      Design
		asked, want float64
	}{
		{newDesign(10, tableFilter{}, 4096), 0, 1e6},
		{newDesign(0, tableFilter{bloomBits: 10}, 4096), 0, 1e6},
		{newDesign(0, tableFilter{fuseBits: 12}, 4096), 0, 1e6},
		{newDesign(0, tableFilter{bloomBits: 10}, 0), 0, 1e6},
		{newDesign(0, tableFilter{fuseBits: 12}, 0), 0, 1e7},

		{newDesign(10, tableFilter{}, 4096), 2e7, 2e7},
		{newDesign(0, tableFilter{bloomBits: 10}, 4096), 2e7, 1e6},
		{newDesign(0, tableFilter{fuseBits: 12}, 4096), 2e7, 1e7},
		{newDesign(0, tableFilter{fuseBits: 12}, 0), 2e7, 1e7},

		{newDesign(10, tableFilter{}, 4096), 1e5, 1e5},
		{newDesign(0, tableFilter{fuseBits: 12}, 0), 1e5, 1e5},
	} {
		q.EntriesPerTable = uint64(tt.asked)
		if o := q.option(tt.design); o.KeysPerTable != tt.want || o.Tables != 1e10/tt.want {
			t.Errorf("%s, filter only %t, %g asked: %g tables of %g keys, want tables of %g", o.filters(), o.FilterOnly, tt.asked, o.Tables, o.KeysPerTable, tt.want)
		}
	}
}
