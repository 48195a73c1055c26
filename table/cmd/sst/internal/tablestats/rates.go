package tablestats

import (
	"math"
	"sync"

	"github.com/sievetable/sievetable/filter"
)

// maxK is the largest k of LevelDB's filters. Larger ones are reserved.
const maxK = 30

// maxRatios bounds the predictions for a table, as each takes 5 to 160 ms.
const maxRatios = 32

// RateRatios are those of filters with different numbers of keys. There are at most maxRatios.
type RateRatios []RateRatio

// A RateRatio is the rate of filter.PredictRate by that of the classical formula, which is too low
// for filters of few keys and for those of many.
type RateRatio struct {
	Keys  int     `json:"keys"`
	K     int     `json:"k"`
	Ratio float64 `json:"ratio"`
}

// of returns the ratio for b. If there are maxRatios, it is that of the filter most like it.
func (r *RateRatios) of(b BloomBits) float64 {
	nearest, distance := RateRatio{}, math.Inf(1)
	for _, other := range *r {
		if d := other.distance(b); d < distance {
			nearest, distance = other, d
		}
	}
	if distance == 0 || len(*r) == maxRatios {
		return nearest.Ratio
	}
	nearest = RateRatio{b.Keys, b.K, predictRate(b) / b.formula()}
	*r = append(*r, nearest)
	return nearest.Ratio
}

// distance returns how little b is like the filter of r: first by k, then by the number of keys.
func (r RateRatio) distance(b BloomBits) float64 {
	return 1000*math.Abs(float64(r.K-b.K)) + math.Abs(math.Log(float64(r.Keys)/float64(b.Keys)))
}

// predicted are the rates that were predicted before, by BloomBits without the array: tables of a
// database are much alike.
var predicted sync.Map

func predictRate(b BloomBits) float64 {
	size := uint64(8 * len(b.Array))
	of := [3]uint64{uint64(b.Keys), size, uint64(b.K)}
	if rate, ok := predicted.Load(of); ok {
		return rate.(float64)
	}
	rate := filter.PredictRate(uint64(b.Keys), size, b.K)
	predicted.Store(of, rate)
	return rate
}

// predict returns the expected false-positive rate of a filter.
func (s *filterSum) predict(b BloomBits) float64 {
	switch {
	case s.WholeTable:
		return filter.PredictTableRate(uint64(b.Keys), uint64(len(b.Array)/lineSize), b.K)
	case b.K > maxK:
		return 1 // such a filter may contain every key
	case b.formula() == 0:
		return 0 // without keys
	}
	return min(1, b.formula()*s.Ratios.of(b))
}
