package blocked

import (
	"fmt"
	"math"
)

const minRate, maxRate = 1e-9, 0.5

func checkRate(rate float64) error {
	if !(rate >= minRate && rate <= maxRate) {
		return fmt.Errorf("blocked: false-positive rate %g: must be 1e-9 to 0.5", rate)
	}
	return nil
}

// size returns the lines and probes of a filter for that number of keys and that rate: the fewest lines, but it adds
// a probe only if that saves 1 % of them.
func size(keys uint64, rate float64) (lines uint64, probes int, err error) {
	keys = max(keys, 1)
	// No filter takes less than log2(1/rate) bits per key.
	least := max(float64(keys)*-math.Log2(rate)/(lineSize*8), 1)
	most := uint64(maxLines)
	for p := 1; p <= maxProbes && least <= maxLines; p++ {
		if n, ok := fewestLines(keys, p, rate, uint64(least), most); ok {
			lines, probes, most = n, p, n*99/100
		}
	}
	if lines == 0 {
		return 0, 0, fmt.Errorf("blocked: a filter of %d keys with a rate of %g takes more than %d GiB: use several",
			keys, rate, maxLines*lineSize>>30)
	}
	return lines, probes, nil
}

// fewestLines returns the lowest number of lines, from least to most, with that rate. If there is none, ok is false.
func fewestLines(keys uint64, probes int, rate float64, least, most uint64) (lines uint64, ok bool) {
	enough := func(lines uint64) bool { return upperRate(keys, lines, probes) <= rate }
	if least > most || !enough(most) {
		return 0, false
	}
	for least < most {
		if middle := least + (most-least)/2; enough(middle) {
			most = middle
		} else {
			least = middle + 1
		}
	}
	return most, true
}

// upperRate returns the rate three standard deviations above the mean of filters of that number of random keys.
func upperRate(keys, lines uint64, probes int) float64 {
	mean, deviation := predict(keys, lines, probes)
	return mean + 3*deviation
}

// predict returns the mean and the standard deviation of the rates of filters of that number of random keys.
func predict(keys, lines uint64, probes int) (mean, deviation float64) {
	var sum, x1, x2, r1, r2, xr float64 // sums of weights, and of powers of keys and rates times weights
	loads(keys, lines, func(x, weight float64) {
		rate, square := lineRate(x, probes)
		sum += weight
		x1, x2 = x1+weight*x, x2+weight*x*x
		r1, r2, xr = r1+weight*rate, r2+weight*square, xr+weight*x*rate
	})
	x1, x2, r1, r2, xr = x1/sum, x2/sum, r1/sum, r2/sum, xr/sum
	variance := r2 - r1*r1
	// The total number of keys is fixed: if one line has more, others have fewer.
	if covariance := xr - x1*r1; x2 > x1*x1 {
		variance -= covariance * covariance / (x2 - x1*x1)
	}
	return r1, math.Sqrt(max(0, variance) / float64(lines))
}

// loads visits the numbers of keys in a line, with weights in proportion to the binomial distribution. It starts at the
// most frequent one, and goes in both directions until the weights are negligible.
func loads(keys, lines uint64, visit func(x, weight float64)) {
	const negligible = 1e-12
	n, others := float64(keys), float64(lines-1)
	if lines == 1 {
		visit(n, 1)
		return
	}
	mode := math.Floor((n + 1) / float64(lines))
	for x, weight := mode, 1.0; x <= n && weight > negligible; x++ {
		visit(x, weight)
		weight *= (n - x) / ((x + 1) * others)
	}
	for x, weight := mode, 1.0; x > 0; {
		weight *= x * others / (n - x + 1)
		if x--; weight < negligible {
			break
		}
		visit(x, weight)
	}
}

// lineRate returns the mean rate of lines with x keys, and the mean of the squared rates. A line has the rate
// q^probes, where q is the probability that it has both bits of a random probe. lineRate assumes that q is
// log-normal.
func lineRate(x float64, probes int) (mean, square float64) {
	q, q2 := probeMoments(x * float64(probes))
	if q <= 0 {
		return 0, 0
	}
	spread := max(q2/(q*q), 1)
	power := func(p float64) float64 { return min(1, math.Pow(q, p)*math.Pow(spread, p*(p-1)/2)) }
	return power(float64(probes)), power(2 * float64(probes))
}

// probeMoments returns the means of q and of its square, over lines in which m pairs of bits were set.
func probeMoments(m float64) (q, q2 float64) {
	const w = wordBits
	q = (allSet(m, 1, 0) + (w-1)*allSet(m, 2, 0)) / w
	// Two probes in the same word can check 1 to 4 different bits.
	same := (allSet(m, 1, 0) + 7*(w-1)*allSet(m, 2, 0) + 6*(w-1)*(w-2)*allSet(m, 3, 0) +
		(w-1)*(w-2)*(w-3)*allSet(m, 4, 0)) / (w * w * w)
	different := (allSet(m, 1, 1) + 2*(w-1)*allSet(m, 1, 2) + (w-1)*(w-1)*allSet(m, 2, 2)) / (w * w)
	return q, (same + (lineWords-1)*different) / lineWords
}

// allSet returns the probability that a bits of one word and b bits of another are all set after m pairs. It uses
// inclusion and exclusion of clear bits.
func allSet(m float64, a, b int) float64 {
	p := 0.0
	for i := range a + 1 {
		for j := range b + 1 {
			p += choose[a][i] * choose[b][j] * math.Pow(1-hit[i]-hit[j], m)
		}
	}
	return max(p, 0)
}

// choose[n][k] is the binomial coefficient with the sign for inclusion and exclusion.
var choose = [5][5]float64{{1}, {1, -1}, {1, -2, 1}, {1, -3, 3, -1}, {1, -4, 6, -4, 1}}

// hit[i] is the probability that a pair sets at least one of i given bits of a word.
var hit = func() (h [5]float64) {
	for i := range h {
		clear := float64(wordBits-i) / wordBits
		h[i] = (1 - clear*clear) / lineWords
	}
	return h
}()
