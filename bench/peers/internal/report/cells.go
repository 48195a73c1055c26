package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
)

// median returns the median of at least one value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	low := stat.Quantile(0.5, stat.Empirical, sorted, nil)
	return (low + sorted[len(sorted)/2]) / 2
}

// cell writes median and spread, and how many times ours is better than it.
func cell(c, ours measure.Cell, unit measure.Unit, isOurs bool) string {
	if len(c.Values) == 0 {
		return c.Missing
	}
	m := median(c.Values)
	text := figures.Digits(m)
	if len(c.Values) > 1 {
		text += fmt.Sprintf(" (%s–%s)", figures.Digits(slices.Min(c.Values)), figures.Digits(slices.Max(c.Values)))
	}
	if isOurs || len(ours.Values) == 0 || unit == measure.Times {
		return text
	}
	ratio := m / median(ours.Values)
	if unit.MoreBetter() {
		ratio = 1 / ratio
	}
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return text
	}
	return text + ", **" + figures.Digits(ratio) + " ×**"
}
