package plan

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/sievetable/sievetable/filter"
)

const (
	// wantedHits are the false positives that a measurement should find. With 400, the rate
	// is known to 10 %.
	wantedHits = 400

	minLookups = 2_000_000
	maxLookups = 10_000_000

	// wantedKeys is the approximate total number of keys in the measured filters.
	wantedKeys = 200_000

	// maxMeasuredKeys is the most keys of a measured filter whose bits are not chosen.
	maxMeasuredKeys = 1_000_000
)

// A Measurement is what filters answered for absent keys.
type Measurement struct {
	MeasuredRate float64 `json:"measured_rate"`
	Band         float64 `json:"measured_rate_error"`  // with 95 %, the rate is within MeasuredRate ± Band
	Lookups      int     `json:"measured_lookups"`     // of absent keys
	MeasuredKeys int     `json:"measured_filter_keys"` // of each measured filter; of each table's, if a table has one
}

// isBound reports whether there were so few false positives that the rate is only known to be
// less than a bound.
func (m Measurement) isBound() bool { return m.Band > m.MeasuredRate/2 }

// upper is what a rate is compared by: the rate and the standard deviation of the
// measurement, or the bound.
func (m Measurement) upper() float64 {
	if m.isBound() {
		return m.MeasuredRate + m.Band
	}
	return m.MeasuredRate + m.Band/2
}

// newMeasurement returns what was measured in filters with these numbers of false positives
// each. Those of small filters differ by more than chance.
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

// lookupsFor returns how many lookups of absent keys, ≥ least, measure the filters of an Option.
func lookupsFor(o Option, least float64) int {
	return int(min(max(wantedHits/o.PredictedRate, least), maxLookups))
}

// measure builds filters with random keys, or those of the Sample, as the Option has them, and returns
// the share of absent keys for which they answer "may contain". A table's filter gets at most
// maxKeys. The result is reproducible.
func (q Query) measure(o Option, maxKeys int) (Measurement, error) {
	if q.Sample != nil && o.table.fuseBits == 0 { // the rate of fuse filters does not depend on keys
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
	inBlocks := min(n, max(wantedKeys, o.KeysPerFilter)) // a table's first blocks are enough
	if o.BlockBits > 0 {
		inBlocks -= inBlocks % o.KeysPerFilter
	}
	for i := range hits {
		f, err := o.build(func(int) []byte { return next() }, n, o.KeysPerFilter, inBlocks)
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

// filters are those of a table, and of its first blocks.
type filters struct {
	table  filter.TableFilter // nil: none
	blocks []filter.Bytes     // empty: none
}

// build builds the filters of n keys, and those of blocks of some of the first keys. Random keys need no order: any of
// them can be those of one block.
func (o Option) build(key func(i int) []byte, n, perBlock, inBlocks int) (f filters, err error) {
	block, policy := filter.NewBloom(o.BlockBits).NewGenerator(), o.table.policy()
	var table filter.TableGenerator
	if policy != nil {
		table = policy.NewTableGenerator()
	}
	for i := range n {
		k := key(i)
		if table != nil {
			table.Add(k)
		}
		if o.BlockBits == 0 || i >= inBlocks {
			continue
		}
		if block.Add(k); (i+1)%perBlock == 0 || i+1 == inBlocks {
			f.blocks = append(f.blocks, nil)
			block.Generate(&f.blocks[len(f.blocks)-1])
		}
	}
	if table != nil {
		var contents []byte
		if contents, err = table.Generate(); err == nil {
			f.table, err = policy.Open(contents)
		}
	}
	return f, err
}

// mayContain looks the key up, in the i-th block.
func (f filters) mayContain(key []byte, i int) bool {
	return (f.table == nil || f.table.Contains(key)) && (len(f.blocks) == 0 || filter.Bloom{}.Contains(f.blocks[i%len(f.blocks)], key))
}

// randomKeys returns a function that overwrites its last key with the next one. The keys have 16 bytes, and are always
// the same ones.
func randomKeys() (next func() []byte) {
	rng, key := rand.NewPCG(1, 1), make([]byte, 0, 16)
	return func() []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(key, rng.Uint64()), rng.Uint64())
	}
}
