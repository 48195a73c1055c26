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

// randomFilters are filters of random keys: of one table, or of one block.
type randomFilters struct {
	table  filter.TableFilter // nil: none
	blocks []filter.Bytes     // empty: none
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
	keys := newRandomKeys()
	n := o.KeysPerFilter
	if !o.table.isNone() {
		n = min(int(o.KeysPerTable), maxKeys)
	}
	lookups := lookupsFor(o, minLookups)
	samples := max(1, min(4000, wantedKeys/n))
	hits := make([]int, samples)
	for i := range hits {
		s, err := o.newRandomFilters(keys, n)
		if err != nil {
			return Measurement{}, err
		}
		for j := range lookups / samples {
			if s.mayContain(keys.next(), j) {
				hits[i]++
			}
		}
	}
	return newMeasurement(hits, lookups/samples*samples, n), nil
}

// newRandomFilters builds the filters of n keys. Random keys need no order: any of them can be those
// of one block. A table's first blocks are enough.
func (o Option) newRandomFilters(keys *randomKeys, n int) (s randomFilters, err error) {
	bloom := filter.NewBloom(o.BlockBits)
	block := bloom.NewGenerator()
	var table filter.TableGenerator
	if !o.table.isNone() {
		table = o.table.policy().NewTableGenerator()
	}
	for i := range n {
		key := keys.next()
		if table != nil {
			table.Add(key)
		}
		if o.BlockBits == 0 || i >= max(wantedKeys, o.KeysPerFilter) {
			continue
		}
		if block.Add(key); (i+1)%o.KeysPerFilter == 0 {
			s.blocks = append(s.blocks, nil)
			block.Generate(&s.blocks[len(s.blocks)-1])
		}
	}
	if table == nil {
		return s, nil
	}
	contents, err := table.Generate()
	if err != nil {
		return s, err
	}
	s.table, err = o.table.policy().Open(contents)
	return s, err
}

// mayContain looks the key up, in the i-th block.
func (s randomFilters) mayContain(key []byte, i int) bool {
	if s.table != nil && !s.table.Contains(key) {
		return false
	}
	return len(s.blocks) == 0 || filter.Bloom{}.Contains(s.blocks[i%len(s.blocks)], key)
}

// randomKeys are keys of 16 bytes, always the same ones.
type randomKeys struct {
	rng *rand.PCG
	key [16]byte
}

func newRandomKeys() *randomKeys { return &randomKeys{rng: rand.NewPCG(1, 1)} }

func (k *randomKeys) next() []byte {
	binary.LittleEndian.PutUint64(k.key[:], k.rng.Uint64())
	binary.LittleEndian.PutUint64(k.key[8:], k.rng.Uint64())
	return k.key[:]
}
