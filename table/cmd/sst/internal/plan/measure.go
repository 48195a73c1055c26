package plan

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/sievetable/sievetable/filter"
)

const (
	// measuredLookups is how many absent keys each measurement looks up.
	measuredLookups = 2_000_000

	// measuredKeys is the approximate total number of keys in the measured filters.
	measuredKeys = 200_000

	// minMeasurableRate is the lowest rate that can be measured. If no lookup is a false
	// positive, the rate is lower than this with a probability of 95 %.
	minMeasurableRate = 3.0 / measuredLookups
)

// measure builds filters with this many random keys, and returns the share of absent random
// keys for which they answer "may contain". The result is reproducible.
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

// met reports whether a measured rate is ≤ the rate of the Query, with a margin of the
// standard deviation of the measurement.
func (q Query) met(rate float64) bool {
	rate = max(rate, minMeasurableRate)
	return rate+math.Sqrt(rate/measuredLookups) <= q.Rate
}

// A Remedy is another value of a flag for which the measured rate is low enough.
type Remedy struct {
	Flag          string  `json:"flag"`
	Value         uint64  `json:"value"`
	KeysPerFilter int     `json:"keys_per_filter"`
	Rate          float64 `json:"measured_rate"`
}

// remedies looks for the smallest number of bits per key, at most twice as many, and for
// the smallest larger block size that reach the rate.
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
