package tablestats

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/bloom"
)

// From manyKeys keys on, the rate depends on the divisors of a filter's length. Each such shape is a kind of its
// own, unless there are more than maxLarge.
const (
	manyKeys = 10_000
	maxLarge = 32
)

// BloomBits is a Bloom filter: its bit array, the number of probes, and the number of keys.
type BloomBits struct {
	Array []byte
	K     int
	Keys  int
}

// bloomBitsOf splits a block filter. A filter of < 2 bytes is empty.
func bloomBitsOf(filter []byte, keys int) BloomBits {
	if len(filter) < 2 {
		return BloomBits{Keys: keys}
	}
	return BloomBits{Array: filter[:len(filter)-1], K: int(filter[len(filter)-1]), Keys: keys}.withKeys()
}

// NumSet returns the number of set bits.
func (b BloomBits) NumSet() (n int) {
	for _, c := range b.Array {
		n += bits.OnesCount8(c)
	}
	return n
}

// withKeys returns b. If the number of keys is unknown, it is estimated from the set bits. If all bits are set, any
// large number is possible. Without probes, the estimate is 1.
func (b BloomBits) withKeys() BloomBits {
	if b.Keys != unknownCount || len(b.Array) == 0 {
		return b
	}
	n := float64(8 * len(b.Array))
	if b.Keys = 1; b.K > 0 {
		b.Keys = int(max(1, min(-math.Log1p(-float64(b.NumSet())/n)*n/float64(b.K), n)))
	}
	return b
}

// A shape contains the numbers that determine the expected rate of a filter.
type shape struct{ keys, bits, k int }

func (b BloomBits) shape() shape { return shape{b.Keys, 8 * len(b.Array), b.K} }

// kind returns a value that is equal for shapes of a kind: they differ by less than 10 % in keys and 5 % in bits
// per key.
func (s shape) kind() shape {
	keys, bits := math.Log2(float64(s.keys)), math.Log2(float64(s.bits))
	return shape{int(math.Floor(8 * keys)), int(math.Floor(16 * (bits - keys))), s.k}
}

// formula returns the rate by the classical formula.
func (s shape) formula() float64 { return bloom.Rate(float64(s.bits)/float64(s.keys), s.k) }

// ratio returns the ratio of the predicted rate to the rate by the classical formula, which is too low for filters
// with few or with many keys.
func (s shape) ratio() float64 {
	return filter.PredictRate(uint64(s.keys), uint64(s.bits), s.k) / s.formula()
}

// predict returns the expected false-positive rates of a table's block filters. Those of a kind are predicted from
// the most frequent shape. If there are too many kinds, the classical formula is used.
func (b *Budget) predict(all []BloomBits) (rates []float64) {
	counts := map[shape]int{}
	large := 0
	for _, f := range all {
		if s := f.shape(); s.keys > 0 && s.bits > 0 {
			if counts[s]++; counts[s] == 1 && s.keys >= manyKeys {
				large++
			}
		}
	}
	kindOf := func(s shape) shape {
		if large <= maxLarge && s.keys >= manyKeys {
			return s
		}
		return s.kind()
	}
	most := map[shape]shape{} // by kind
	for s, n := range counts {
		best, ok := most[kindOf(s)]
		if !ok || cmp.Or(cmp.Compare(n, counts[best]), cmp.Compare(best.keys, s.keys), cmp.Compare(best.bits, s.bits)) > 0 {
			most[kindOf(s)] = s
		}
	}
	rates = make([]float64, len(all))
	for i, f := range all {
		switch s := f.shape(); {
		case s.bits == 0: // empty: it contains no key
		case s.k < 1 || s.k > bloom.MaxK:
			rates[i] = 1 // it may contain every key
		default:
			if rates[i] = s.formula(); rates[i] > 0 && len(most) <= maxPredictions {
				rates[i] = min(1, rates[i]*b.ratio(most[kindOf(s)], s.kind()))
			}
		}
	}
	return rates
}
