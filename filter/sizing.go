package filter

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// Sizing says what Bloom filters over a number of keys cost and how often they
// err. [SizeForRate] and [SizeForBits] compute it.
//
// With n keys, m bits and k bits set per key, the classical formulas are
//
//	m = −n·ln p/(ln 2)²        bits for a false-positive rate p, at the best k
//	k = m/n·ln 2               the best k
//	p = (1 − e^(−kn/m))^k      the rate
//
// LevelDB takes a whole number of bits per key and a k that it rounds down from
// 0.69 times that, so its rate is a little above the optimum. And a filter sees
// only a 32-bit hash of each key: a key that was not added collides with one
// that was with probability 1 − e^(−n/2³²), so over all n keys one filter errs
// at a rate of p + (1−p)(1−e^(−n/2³²)). In a table that does not matter, where
// each filter has the keys of a data block or a few; but ten billion keys belong
// in many small filters, never in one.
//
// The formulas assume k independent bits. LevelDB's come from one hash by
// double hashing, and in the small filters of a table, of a few hundred bits,
// they often coincide: the rate measured there is higher, by a tenth or two at 10
// bits per key and tenfold at 20, where the formula promises 0.0068 % (README.md has
// both). Keys that differ in little, such as consecutive numbers in decimal,
// can do worse, since the hash spreads them badly.
type Sizing struct {
	Keys       uint64  // n
	BitsPerKey int     // what to give NewBloom
	K          int     // bits that LevelDB sets per key at that size
	Bytes      uint64  // Keys·BitsPerKey/8 rounded up: the bits alone, without what each filter adds
	Rate       float64 // false positives per absent key, by the formula, many small filters, LevelDB's K

	// SingleRate is the rate of one filter over all the keys: the 32-bit hash
	// counted, and the 2³²−8 bits that a filter takes at most.
	SingleRate float64

	// The classical optimum, for comparison. ExactBits is m for the rate asked
	// for (for SizeForBits, Keys·BitsPerKey), rounded up to a whole bit;
	// BestK and BestRate are k, as a whole number, and p for BitsPerKey.
	ExactBits uint64
	BestK     int
	BestRate  float64
}

// minRate is the lowest rate SizeForRate takes. It is far below what 32-bit
// hashes can give, and keeps the bits per key within an int32.
const minRate = 1e-100

// SizeForRate returns the smallest sizing whose Rate, by the formula and with
// LevelDB's rounded k, is at most p, for n keys. It is an error if p is not in [10⁻¹⁰⁰, 1) or the
// filters would take 2⁶⁴ bits or more.
func SizeForRate(n uint64, p float64) (Sizing, error) {
	if !(p >= minRate && p < 1) {
		return Sizing{}, fmt.Errorf("filter: false-positive rate %g, want it in [%g, 1)", p, minRate)
	}
	perKey := sort.Search(math.MaxInt32, func(b int) bool {
		return rate(float64(b), probes(uint64(b))) <= p
	})
	s, err := SizeForBits(n, perKey)
	if err != nil {
		return Sizing{}, err
	}
	s.ExactBits = uint64(math.Ceil(-float64(n) * math.Log(p) / (math.Ln2 * math.Ln2)))
	return s, nil
}

// SizeForBits returns the sizing of NewBloom(bitsPerKey) for n keys. It is an
// error if the filters would take 2⁶⁴ bits or more.
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
		K:          probes(perKey),
		Bytes:      (m + 7) / 8,
		Rate:       rate(float64(perKey), probes(perKey)),
		SingleRate: singleRate(n, perKey),
		ExactBits:  m,
		BestK:      best,
		BestRate:   rate(float64(perKey), best),
	}, nil
}

// rate is (1 − e^(−kn/m))^k with m/n bits per key.
func rate(perKey float64, k int) float64 {
	return math.Pow(-math.Expm1(-float64(k)/perKey), float64(k))
}

// singleRate is the rate of one filter of n keys.
func singleRate(n, bitsPerKey uint64) float64 {
	if n == 0 {
		return 0
	}
	p := rate(float64(filterBits(n, bitsPerKey))/float64(n), probes(bitsPerKey))
	return p + (1-p)*-math.Expm1(-float64(n)/(1<<32))
}
