package fpr

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// A Point is the measurement of filters with a number of keys.
type Point struct {
	Shape        string
	Bits         int // bits per key
	K            int // bits that each lookup probes
	M            int // number of bits in the filter
	Keys         int
	Load         float64 // Keys divided by the keys that the filter is sized for
	Runs         int
	Mean, StdDev float64 // of the rates of the runs
	Theory       float64
}

// points summarizes the rates of the trials by bits per key and load.
func (c Config) points(rates [][][]float64) []Point {
	var points []Point
	for s, name := range c.Shapes {
		runs := rates[s*c.Runs : (s+1)*c.Runs]
		for b, bits := range c.Bits {
			m, k := newPlannedFilter(c.Keys, bits).size()
			for i := range maxLoadTenths {
				p := Point{Shape: name, Bits: bits, K: k, M: m, Keys: c.keysAt(i + 1), Runs: c.Runs}
				p.Load = float64(p.Keys) / float64(c.Keys)
				p.Mean, p.StdDev = stat.MeanStdDev(column(runs, b, i), nil)
				p.Theory = formulaRate(float64(p.Keys), int64(m), k)
				points = append(points, p)
			}
		}
	}
	return points
}

// column returns the rate of each run for bits b at load i.
func column(runs [][][]float64, b, i int) []float64 {
	var rates []float64
	for _, r := range runs {
		rates = append(rates, r[b][i])
	}
	return rates
}

// formulaRate returns the rate of the formula for a filter of m bits with n keys. A lookup
// is a false positive if k independent bits are all set, or if the 32-bit hash of the key
// equals that of an added key.
func formulaRate(n float64, m int64, k int) float64 {
	p := math.Pow(-math.Expm1(-float64(k)*n/float64(m)), float64(k))
	return p + (1-p)*-math.Expm1(-n/(1<<32))
}
