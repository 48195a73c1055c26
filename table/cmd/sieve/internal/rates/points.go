package rates

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// A Point is the measurement of filters with one number of keys.
type Point struct {
	Shape        string
	Policy       string
	Bits         int // bits per key
	K            int // bits that each lookup probes
	M            int // number of bits in the filter
	Keys         int
	Load         float64   // Keys divided by the keys that the filter is sized for
	Lookups      int       // absent keys that each run looked up
	Rates        []float64 // of the runs
	Mean, StdDev float64   // of Rates
	Low, High    float64   // 95 % interval of the mean: see interval
	Theory       float64   // rate by the formula
}

// points returns a Point for each shape, policy and step, not measured yet.
func (c Config) points(shapes []keyShape, policies []sizedPolicy) (points []Point) {
	for _, shape := range shapes {
		for _, sized := range policies {
			for _, step := range c.steps() {
				points = append(points, Point{
					Shape: shape.name, Policy: sized.name, Bits: sized.bits,
					Keys: step.keys, Load: float64(step.keys) / float64(c.Keys), Rates: make([]float64, c.Runs),
				})
			}
		}
	}
	return points
}

// set sets the rate of a run, and the fields that all runs share.
func (p *Point) set(run int, f measuredFilter, absent [][]byte) {
	hits := 0
	for _, key := range absent {
		if f.Contains(key) {
			hits++
		}
	}
	p.Rates[run] = float64(hits) / float64(len(absent))
	if run == 0 {
		p.M, p.K = f.size()
		p.Lookups, p.Theory = len(absent), f.formula(float64(p.Keys))
	}
}

// summarize computes the statistics of the rates.
func (p *Point) summarize() {
	p.Mean, p.StdDev = stat.MeanStdDev(p.Rates, nil)
	p.Low, p.High = interval(p.Mean, p.StdDev, len(p.Rates), p.Lookups)
}

// interval returns the 95 % interval of the mean rate one for each run, by Wilson's formula for the share of
// false positives among all lookups. If the runs differ by more than the chance of single lookups explains, the
// lookups of a run are not independent. Then they count for fewer, by the ratio of the variances.
func interval(mean, stdDev float64, runs, lookups int) (low, high float64) {
	const z = 1.959964 // the normal distribution has 95 % within ± z
	n := float64(runs * lookups)
	if chance := mean * (1 - mean) / float64(lookups); stdDev*stdDev > chance {
		n *= chance / (stdDev * stdDev)
	}
	middle := mean + z*z/(2*n)
	half := z * math.Sqrt(mean*(1-mean)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	if mean > 0 {
		low = (middle - half) / scale
	}
	return low, (middle + half) / scale
}
