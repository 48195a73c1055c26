package filter

import "math"

// PredictTableRate returns the false-positive rate, 0 to 1, that one [TableBloom] filter of n
// random keys with that number of lines, of 64 bytes each, is expected to have. k is the
// number of bits that each key sets.
//
// The rate is higher than the classical formula's: some lines have many more keys than
// others; the k bits of one key in 512 are one and the same bit; and a line knows only 18
// bits of a hash, so that two of its keys often have all bits in common. For ≥ 1000 keys the
// measured rate is 2 to 8 % below the prediction.
//
// It returns 0 if n or lines is 0, and 1 if k is not 1 to 127: such filters have no keys or
// cannot be used.
func PredictTableRate(n, lines uint64, k int) float64 {
	switch {
	case n == 0 || lines == 0:
		return 0
	case k < 1 || k > maxLineK:
		return 1
	}
	mean := float64(n) / float64(lines)
	if mean > 10*lineBits {
		return 1 // all bits are set
	}
	deviations := 10 * math.Sqrt(mean)
	p := 0.0
	for x := math.Max(0, math.Floor(mean-deviations)); x < mean+deviations+20; x++ {
		logFactorial, _ := math.Lgamma(x + 1)
		p += math.Exp(x*math.Log(mean)-mean-logFactorial) * lineRate(x, k)
	}
	return min(1, p+(1-p)*-math.Expm1(-float64(n)/(1<<32)))
}

// lineRate returns the rate of a line with x keys.
func lineRate(x float64, k int) float64 {
	fill := -math.Expm1(x * math.Log1p(-float64(k)/lineBits))
	if fill == 1 {
		return 1
	}
	rate, rest := 0.0, 1.0
	// A key sets only d different bits, d a power of 2, if d·δ mod 512 is 0 and no smaller d
	// does it.
	for distinct := 1; distinct < k; distinct *= 2 {
		share := float64(max(distinct/2, 1)) / lineBits
		rate, rest = rate+share*math.Pow(fill, float64(distinct)), rest-share
	}
	rate += rest * math.Pow(fill, float64(k))
	// Bits in the same sequence as those of a key, in either direction, and from each bit of
	// it on: the others are set by chance.
	same := x * 2 * (1 + fill) / (1 - fill) / (lineBits * lineBits)
	return math.Min(1, rate+(1-rate)*same)
}
