package plan

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// The plan predicts the index of a table of random keys within 3 %. It predicts the memory of index and filters
// within 4 %, once lookups have built the search tree.
func TestIndexIsWhatIsWritten(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct{ n, keySize, valueSize, blockSize int }{
		{100_000, 16, 0, 1 << 10},
		{100_000, 64, 0, 4 << 10},
		{300_000, 16, 0, 4 << 10},
		{100_000, 8, 20, 1 << 10},
		{100_000, 200, 100, 4 << 10},
		{100_000, 16, 300, 16 << 10},
		{60_000, 3, 0, 1 << 10},
	} {
		q := usual(uint64(tt.n), 0)
		q.KeySize, q.ValueSize, q.BlockSize = uint64(tt.keySize), uint64(tt.valueSize), uint64(tt.blockSize)
		q.TableSize = 4 << 30
		o := q.option(newDesign(10, tableFilter{}, q.BlockSize))
		r := openTable(t, tableOfRandomKeys(t, tt.n, tt.keySize, tt.valueSize, tt.blockSize))
		p, err := r.Properties()
		noError(t, err)
		for range 4 * p.DataBlocks { // build the search tree
			_, _, err := r.FindGE([]byte("k"))
			noError(t, err)
		}
		checkRatio(t, tt, "index", o.IndexBytes, float64(p.IndexSize), 0.97, 1.03)
		checkRatio(t, tt, "memory", o.MemoryBytes, float64(r.MemorySize()), 0.96, 1.04)
	}
}

// checkRatio checks that the ratio of the planned to the actual size is from least to most.
func checkRatio(t *testing.T, of any, name string, planned, actual, least, most float64) {
	t.Helper()
	if ratio := planned / actual; ratio < least || ratio > most {
		t.Errorf("%+v: %s of %g bytes planned, %g in the table", of, name, planned, actual)
	}
}

// tableOfRandomKeys writes a table of n distinct random keys.
func tableOfRandomKeys(t *testing.T, n, keySize, valueSize, blockSize int) []byte {
	t.Helper()
	rng, keys := rand.NewChaCha8([32]byte{7}), make([][]byte, 0, n)
	for len(keys) < n {
		for range n - len(keys) {
			key := make([]byte, keySize)
			rng.Read(key)
			keys = append(keys, key)
		}
		slices.SortFunc(keys, bytes.Compare)
		keys = slices.CompactFunc(keys, bytes.Equal)
	}
	return tableOf(t, &table.WriterOptions{
		FilterPolicy: filter.NewBloom(10), BlockSize: blockSize, Compression: table.NoCompression, Properties: true,
	}, keys, valueSize)
}
