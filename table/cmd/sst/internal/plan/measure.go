package plan

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/sievetable/sievetable/filter"
)

const (
	// measuredLookups is how many absent keys each measurement asks for.
	measuredLookups = 2_000_000

	// Filters are built of about this many keys all together.
	measuredKeys = 200_000

	// No measurement tells rates below minMeasurableRate: with none of the questions
	// answered wrongly, the rate is below it in 19 of 20 cases.
	minMeasurableRate = 3.0 / measuredLookups
)

// measure builds filters of so many keys and returns the share of absent keys
// that they take for present. All keys are random. The result is the same each
// time.
func measure(keys, bitsPerKey int) float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	var key [16]byte
	next := func() []byte {
		binary.LittleEndian.PutUint64(key[:], rng.Uint64())
		binary.LittleEndian.PutUint64(key[8:], rng.Uint64())
		return key[:]
	}
	policy := filter.NewBloom(bitsPerKey)
	generator := policy.NewGenerator()
	filters := max(10, min(4000, measuredKeys/keys))
	hits := 0
	for range filters {
		for range keys {
			generator.Add(next())
		}
		var f filter.Bytes
		generator.Generate(&f)
		for range measuredLookups / filters {
			if policy.Contains(f, next()) {
				hits++
			}
		}
	}
	return float64(hits) / float64(measuredLookups/filters*filters)
}

// met reports whether a measured rate is at most the one asked for, and clear of it
// by the standard deviation of the measurement.
func (q Query) met(rate float64) bool {
	rate = max(rate, minMeasurableRate)
	return rate+math.Sqrt(rate/measuredLookups) <= q.Rate
}

// A Remedy is another value of a flag, with which the rate that was asked for was
// measured.
type Remedy struct {
	Flag          string  `json:"flag"`
	Value         uint64  `json:"value"`
	KeysPerFilter int     `json:"keys_per_filter"`
	Rate          float64 `json:"measured_rate"`
}

// remedies looks for the fewest further bits per key, up to twice as many, and for the
// least larger blocks, that meet the rate.
func (q Query) remedies(bitsPerKey int) []Remedy {
	var found []Remedy
	keys := int(q.layOut().keysPerFilter)
	more := 1 + sort.Search(bitsPerKey, func(i int) bool { return q.met(measure(keys, bitsPerKey+1+i)) })
	if more <= bitsPerKey {
		bits := bitsPerKey + more
		found = append(found, Remedy{"--bits", uint64(bits), keys, measure(keys, bits)})
	}
	for q.BlockSize *= 2; q.BlockSize <= maxBlockSize; q.BlockSize *= 2 {
		keys := int(q.layOut().keysPerFilter)
		if rate := measure(keys, bitsPerKey); q.met(rate) {
			return append(found, Remedy{"--block-size", q.BlockSize, keys, rate})
		}
	}
	return found
}
