package plan

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/sievetable/sievetable/filter"
)

const (
	// wantedHits is the number of false positives that a measurement should find. With 400, the rate is known to
	// within 10 %.
	wantedHits = 400

	minLookups = 2_000_000
	maxLookups = 10_000_000

	// wantedKeys is the approximate total number of keys in the measured filters.
	wantedKeys = 200_000

	// maxMeasuredKeys is the maximum number of keys in a measured filter, except a chosen fuse filter.
	maxMeasuredKeys = 1_000_000
)

// A Measurement is a false-positive rate measured by looking up absent keys.
type Measurement struct {
	MeasuredRate float64 `json:"measured_rate"`
	Band         float64 `json:"measured_rate_error"`  // the rate is within MeasuredRate ± Band with a probability of 95 %
	Lookups      int     `json:"measured_lookups"`     // of absent keys
	MeasuredKeys int     `json:"measured_filter_keys"` // in each measured filter: in the table filter, if there is one
}

// isBound reports whether there were so few false positives that only an upper bound of the rate is known.
func (m Measurement) isBound() bool { return m.Band > m.MeasuredRate/2 }

// upper returns the value for comparing rates: the rate plus the measurement's standard deviation, or the bound.
func (m Measurement) upper() float64 {
	if m.isBound() {
		return m.MeasuredRate + m.Band
	}
	return m.MeasuredRate + m.Band/2
}

// newMeasurement returns the Measurement for filters with these numbers of false positives. Small filters differ
// by more than chance.
func newMeasurement(hits []int, lookups, keys int) Measurement {
	sum, squares := 0.0, 0.0
	for _, h := range hits {
		sum, squares = sum+float64(h), squares+float64(h)*float64(h)
	}
	if sum == 0 {
		return Measurement{0, 3 / float64(lookups), lookups, keys}
	}
	variance := max(sum, squares-sum*sum/float64(len(hits)))
	return Measurement{sum / float64(lookups), 2 * math.Sqrt(variance) / float64(lookups), lookups, keys}
}

// lookupsFor returns the number of lookups of absent keys for measuring an Option: from least to maxLookups.
func lookupsFor(o Option, least float64) int {
	return int(min(max(wantedHits/o.PredictedRate, least), maxLookups))
}

// measure builds the Option's filters with random keys, or with the Sample's, and measures the share of absent
// keys that they do not rule out. A table filter gets at most maxKeys. The result is reproducible.
func (q Query) measure(o Option, maxKeys int) (Measurement, error) {
	if q.Sample != nil && o.table.fuseBits == 0 { // the rate of fuse filters does not depend on the keys
		return q.Sample.measure(o, maxKeys)
	}
	next := randomKeys()
	n := o.KeysPerFilter
	if o.TableFilter != "" {
		n = min(int(o.KeysPerTable), maxKeys)
	}
	lookups := lookupsFor(o, minLookups)
	samples := max(1, min(4000, wantedKeys/n))
	hits := make([]int, samples)
	inBlocks := min(n, max(wantedKeys, o.KeysPerFilter)) // the first blocks of a table are enough
	if o.BlockBits > 0 {
		inBlocks -= inBlocks % o.KeysPerFilter
	}
	b := newBuilder(o.BlockBits, o.table)
	for i := range hits {
		f, err := b.build(func(int) []byte { return next() }, n, o.KeysPerFilter, inBlocks)
		if err != nil {
			return Measurement{}, err
		}
		for j := range lookups / samples {
			if f.mayContain(next(), j) {
				hits[i]++
			}
		}
	}
	return newMeasurement(hits, lookups/samples*samples, n), nil
}

// filters has the table filter of a table, and the filters of its first blocks.
type filters struct {
	table  filter.TableFilter // nil: none
	blocks []filter.Bytes     // empty: none
}

// A builder builds the filters of one table after another.
type builder struct {
	block  filter.Generator   // nil: no block filters
	policy filter.TablePolicy // nil: no table filter
}

func newBuilder(blockBits int, f tableFilter) builder {
	b := builder{policy: f.policy()}
	if blockBits > 0 {
		b.block = filter.NewBloom(blockBits).NewGenerator()
	}
	return b
}

// build builds the table filter of n keys, and the block filters of the first inBlocks keys. Random keys need not
// be sorted: any of them can be the keys of one block.
func (b builder) build(key func(i int) []byte, n, perBlock, inBlocks int) (f filters, err error) {
	var table filter.TableGenerator
	if b.policy != nil {
		table = b.policy.NewTableGenerator()
	}
	for i := range n {
		k := key(i)
		if table != nil {
			table.Add(k)
		}
		if b.block == nil || i >= inBlocks {
			continue
		}
		if b.block.Add(k); (i+1)%perBlock == 0 || i+1 == inBlocks {
			f.blocks = append(f.blocks, nil)
			b.block.Generate(&f.blocks[len(f.blocks)-1])
		}
	}
	if table != nil {
		var contents []byte
		if contents, err = table.Generate(); err == nil {
			f.table, err = b.policy.Open(contents)
		}
	}
	return f, err
}

// mayContain checks the filters for a key in the i-th block.
func (f filters) mayContain(key []byte, i int) bool {
	return (f.table == nil || f.table.Contains(key)) && (len(f.blocks) == 0 || filter.Bloom{}.Contains(f.blocks[i%len(f.blocks)], key))
}

// randomKeys returns a function that returns the next key, and overwrites the last one. The keys have 16 bytes,
// and are always the same.
func randomKeys() (next func() []byte) {
	rng, key := rand.NewPCG(1, 1), make([]byte, 0, 16)
	return func() []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(key, rng.Uint64()), rng.Uint64())
	}
}
