package rates

import (
	"image/color"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/sievetable/sievetable/internal/theme"
)

// A panel shows the points of one policy and number of bits per key.
type panel struct {
	policy policy
	bits   int
	series []series
}

// A series is the points of a shape, by load or k.
type series struct {
	label  string
	color  color.NRGBA
	points []Point
}

// panels returns the panels row by row. If there are several policies, each has a column.
func (c Config) panels(points []Point) (panels []panel) {
	shapes, steps, columns := c.shapes(), len(c.steps()), len(c.Policies)
	perShape := len(points) / steps / len(shapes)
	for i := range perShape {
		at := i%columns*(perShape/columns) + i/columns // points are ordered by policy
		first := points[at*steps]
		p := panel{policy: policyOf(first.Policy), bits: first.Bits}
		for j, shape := range shapes {
			from := (j*perShape + at) * steps
			p.series = append(p.series, series{shape.label, theme.Series[j], points[from : from+steps]})
		}
		panels = append(panels, p)
	}
	return panels
}

// title describes the filters of a panel.
func (panel panel) title(c Config) string {
	if len(c.Policies) == 1 {
		return panel.policy.size(panel.bits)
	}
	return panel.policy.short + ", " + panel.policy.size(panel.bits)
}

// rates returns the lowest rate > 0 of the runs, and the highest rate of the runs and the formula. A mean can be
// lower: then few runs have had any false positive, and the mean is not meaningful.
func (panel panel) rates() (low, high float64) {
	low = 1
	highest := 0.0 // of the formula
	for _, s := range panel.series {
		for _, p := range s.points {
			highest = max(highest, p.Theory)
			for _, r := range p.Rates {
				if r > 0 {
					low, high = min(low, r), max(high, r)
				}
			}
		}
	}
	if high == 0 {
		low = 1 / float64(panel.series[0].points[0].Lookups)
	}
	return low, max(high, 10*low, highest)
}

// hasMean reports whether a point has a mean > 0. A logarithmic axis cannot show 0.
func hasMean(p Point) bool { return p.Mean > 0 }

// stretches returns the runs of consecutive points for which shown is true.
func stretches(points []Point, shown func(Point) bool) [][]Point {
	var stretches [][]Point
	from := 0
	for i := range len(points) + 1 {
		if i < len(points) && shown(points[i]) {
			continue
		}
		if i > from {
			stretches = append(stretches, points[from:i])
		}
		from = i + 1
	}
	return stretches
}

// lowEdge and highEdge return the edges of the band at a point. It includes the middle 80 % of the runs.
func lowEdge(p Point) float64  { return quantile(p, 0.1) }
func highEdge(p Point) float64 { return quantile(p, 0.9) }

func quantile(p Point, share float64) float64 {
	return stat.Quantile(share, stat.LinInterp, slices.Sorted(slices.Values(p.Rates)), nil)
}
