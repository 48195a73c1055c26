package fpr

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// A Point is what was measured with so many keys in a filter.
type Point struct {
	Shape        string
	Bits         int // per key
	K            int // bits that each key sets
	M            int // bits of the filter
	Keys         int
	Load         float64 // Keys over those that the filter is planned for
	Runs         int
	Mean, StdDev float64 // of the false-positive rates of the runs
	Theory       float64
}

// points sums up the rates of the trials, by bits per key and load.
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

// column returns what each run measured with bits b at load i.
func column(runs [][][]float64, b, i int) []float64 {
	var rates []float64
	for _, r := range runs {
		rates = append(rates, r[b][i])
	}
	return rates
}

// formulaRate is the rate that the formula gives a filter of m bits with n keys: an
// absent key is taken for present if k independent bits are all set, or if its
// 32-bit hash is that of a key.
func formulaRate(n float64, m int64, k int) float64 {
	p := math.Pow(-math.Expm1(-float64(k)*n/float64(m)), float64(k))
	return p + (1-p)*-math.Expm1(-n/(1<<32))
}
