package filter

import (
	"fmt"
	"math"
	"math/bits"
	"sort"

	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/format"
)

// A Sizing is the size and the false-positive rate of [Bloom] filters of n keys.
//
// With m bits in all and k bits set per key, the classical formulas are
//
//	m = -n*ln(p)/ln(2)^2       bits for a false-positive rate p, at the best k
//	k = m/n*ln(2)              the best k
//	p = (1 - e^(-kn/m))^k      the rate
//
// LevelDB uses a whole number of bits per key, and rounds 0.69 times that down to k. Its bits
// come from one 32-bit hash and are not independent, so measured rates are higher than the
// formula's:
//
//   - In filters of a few hundred bits, such as those of a filter block, by 10 to 40 % at 10
//     bits per key, and tenfold at 20 bits.
//   - In a filter of a million keys, by half at 10 bits per key, and sixfold at 20 bits: see
//     [PredictRate]. Ten billion keys need many small filters.
//   - For keys that differ in a few bytes only, such as consecutive numbers.
type Sizing struct {
	// Keys is n.
	Keys uint64

	// BitsPerKey is the argument for NewBloom.
	BitsPerKey int

	// K is how many bits LevelDB sets for each key.
	K int

	// Bytes is Keys*BitsPerKey/8, rounded up. The k and the offset of each filter are not
	// counted.
	Bytes uint64

	// Rate is the formula's rate, 0 to 1.
	Rate float64

	// SingleRate is the rate, 0 to 1, that PredictRate predicts if all keys are in one
	// filter. It has at most 2^32-8 bits.
	SingleRate float64

	// ExactBits is the classical optimum m, rounded up, for the rate given to
	// SizeForRate. Other functions set it to Keys*BitsPerKey.
	ExactBits uint64

	// BestK is the classical optimum k for BitsPerKey, rounded.
	BestK int

	// BestRate is the formula's rate for BitsPerKey and BestK, 0 to 1.
	BestRate float64
}

// minRate is the lowest rate that SizeForRate accepts. 32-bit hashes cannot reach it
// by far, and it keeps the bits per key within an int32.
const minRate = 1e-100

// SizeForRate returns the Sizing of n keys with the fewest bits per key whose Rate is <= p.
// If p is not in [1e-100, 1), or the filters have 2^64 bits or more, SizeForRate returns an
// error.
func SizeForRate(n uint64, p float64) (Sizing, error) {
	if !(p >= minRate && p < 1) {
		return Sizing{}, fmt.Errorf("filter: false-positive rate %g, want it in [%g, 1)", p, minRate)
	}
	perKey := sort.Search(math.MaxInt32, func(b int) bool {
		return bloom.Rate(float64(b), bloom.K(uint64(b))) <= p
	})
	s, err := SizeForBits(n, perKey)
	if err != nil {
		return Sizing{}, err
	}
	s.ExactBits = uint64(math.Ceil(-float64(n) * math.Log(p) / (math.Ln2 * math.Ln2)))
	return s, nil
}

// maxSizedBits is the most bits per key that SizeForSingleRate and TableBloomForRate return. More of them do not
// lower a rate that is worth asking for.
const maxSizedBits = 64

// SizeForSingleRate returns the Sizing of n keys with the fewest bits per key whose SingleRate
// is <= p. If p is not in (0, 1), or no filter of at most 64 bits per key has that rate,
// SizeForSingleRate returns an error. Modules filter/fuse and filter/blocked have filters with
// lower rates. For more than 100 million keys, it takes up to 6 seconds.
func SizeForSingleRate(n uint64, p float64) (Sizing, error) {
	bitsPerKey, err := fewestBits(n, p, func(bitsPerKey uint64) float64 {
		return PredictRate(n, bloom.Bits(n, bitsPerKey), bloom.K(bitsPerKey))
	})
	if err != nil {
		return Sizing{}, err
	}
	return SizeForBits(n, bitsPerKey)
}

// TableBloomForRate returns the TableBloom with the fewest bits per key whose Rate(n) is <= p.
// If p is not in (0, 1), or none of at most 64 bits per key has that rate, TableBloomForRate
// returns an error.
func TableBloomForRate(n uint64, p float64) (TableBloom, error) {
	bitsPerKey, err := fewestBits(n, p, func(bitsPerKey uint64) float64 {
		return TableBloom{bitsPerKey: int(bitsPerKey)}.Rate(n)
	})
	return NewTableBloom(bitsPerKey), err
}

// fewestBits returns the fewest bits per key for which the rate is ≤ p.
func fewestBits(n uint64, p float64, rate func(bitsPerKey uint64) float64) (int, error) {
	if !(p > 0 && p < 1) {
		return 0, fmt.Errorf("filter: false-positive rate %g, want it > 0 and < 1", p)
	}
	sameHash := -math.Expm1(-float64(n) / (1 << 32)) // the absent keys that pass any filter
	for bitsPerKey := 0; bitsPerKey < maxSizedBits && sameHash <= p; bitsPerKey++ {
		if rate(uint64(bitsPerKey+1)) <= p {
			return bitsPerKey + 1, nil
		}
	}
	return 0, fmt.Errorf("filter: no filter of %s with ≤ %d bits per key has a false-positive rate of %g: "+
		"modules filter/fuse and filter/blocked have filters with lower rates", format.Plural(n, "key"), maxSizedBits, p)
}

// SizeForBits returns the Sizing of n keys with NewBloom(bitsPerKey). If the filters have 2^64
// bits or more, SizeForBits returns an error.
func SizeForBits(n uint64, bitsPerKey int) (Sizing, error) {
	perKey := uint64(max(bitsPerKey, 0))
	hi, m := bits.Mul64(n, perKey)
	if hi > 0 || m > math.MaxUint64-7 {
		return Sizing{}, fmt.Errorf("filter: %d keys of %d bits take 2⁶⁴ bits or more", n, perKey)
	}
	best := max(1, int(math.Round(float64(perKey)*math.Ln2)))
	return Sizing{
		Keys:       n,
		BitsPerKey: int(perKey),
		K:          bloom.K(perKey),
		Bytes:      (m + 7) / 8,
		Rate:       bloom.Rate(float64(perKey), bloom.K(perKey)),
		SingleRate: PredictRate(n, bloom.Bits(n, perKey), bloom.K(perKey)),
		ExactBits:  m,
		BestK:      best,
		BestRate:   bloom.Rate(float64(perKey), best),
	}, nil
}
