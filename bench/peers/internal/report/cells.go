package report

import (
	"fmt"
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

// cell writes how many times ours is better than column i, with the least and the most, and then the median
// of its figures. Of ours it writes the figures' least and most.
func cell(row measure.Row, i int) string {
	took, ok := figure(row, i)
	if !ok {
		return row.Cells[i].Missing
	}
	text := figures.Digits(took.mid)
	if times, ok := ratio(row, i); ok && i > 0 {
		return "**" + figures.Digits(times.mid) + " ×**" + around(times) + ", " + text
	}
	return text + around(took)
}

// around writes the least and the most, if there are several figures.
func around(s span) string {
	if s.low == s.high {
		return ""
	}
	return fmt.Sprintf(" (%s–%s)", figures.Digits(s.low), figures.Digits(s.high))
}
