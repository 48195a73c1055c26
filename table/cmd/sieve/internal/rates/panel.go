package rates

import (
	"image/color"
	"math"
	"slices"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// panelsPerRow is how many panels of one policy are beside each other.
const panelsPerRow = 2

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

// panels returns the panels row by row, and how many a row has. Several policies have a column
// each.
func (c Config) panels(points []Point) (panels []panel, columns int) {
	var all []panel
	shapes, steps := c.shapes(), len(c.steps())
	perShape := len(points) / steps / len(shapes)
	for i := range perShape {
		first := points[i*steps]
		p := panel{policy: policyOf(first.Policy), bits: first.Bits}
		for j, shape := range shapes {
			from := (j*perShape + i) * steps
			p.series = append(p.series, series{shape.label, theme.Series[j], points[from : from+steps]})
		}
		all = append(all, p)
	}
	columns = len(c.Policies)
	if columns == 1 {
		return all, min(len(all), panelsPerRow)
	}
	for row := range perShape / columns { // all has policy after policy
		for column := range columns {
			panels = append(panels, all[column*perShape/columns+row])
		}
	}
	return panels, columns
}

// title says what the filters of a panel are.
func (panel panel) title(c Config) string {
	if len(c.Policies) == 1 {
		return panel.policy.size(panel.bits)
	}
	return panel.policy.short + ", " + panel.policy.size(panel.bits)
}

// draw draws a line for each shape, over the load or k. f is an empty filter of the panel's.
func (panel panel) draw(a area, c Config, f measuredFilter) {
	a.drawAxes()
	a.drawFrame(panel.title(c))
	lowest := fromAxis(a.low)
	for i, s := range slices.Backward(panel.series) { // the first is drawn over the others
		panel.drawSeries(a, s, i, lowest)
	}
	formula := a.formula(panel, c, f, lowest)
	a.stroke(dashed(), formula...)
	a.drawLabels(panel.labels(formula))
}

// axisPosition returns where a rate is on the axis, which shows powers of ten.
func axisPosition(rate float64) float64 { return math.Log10(rate) }

// fromAxis reverses axisPosition.
func fromAxis(y float64) float64 { return math.Pow(10, y) }

// rates returns the lowest rate > 0 of the runs, and the highest one of them and of the formula. A mean can be lower: then few
// runs have had a key let through at all, and it says little.
func (panel panel) rates() (low, high float64) {
	low, highest := 1.0, 0.0 // of the runs, and of the formula
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
		low = 1 / float64(panel.series[0].points[0].Questions)
	}
	return low, max(high, 10*low, highest)
}

// drawSeries draws a line with its band and its dots. So that those of several shapes are seen,
// the dots of the shapes are beside each other.
func (panel panel) drawSeries(a area, s series, i int, lowest float64) {
	for _, stretch := range stretches(s.points, func(p Point) bool { return edge(p, bandFrom) >= lowest }) {
		a.fill(withAlpha(s.color, 0x30), a.band(stretch))
	}
	for _, stretch := range stretches(s.points, hasMean) {
		a.drawDots(stretch, s.color, a.across.dotShift()*(float64(i)-float64(len(panel.series)-1)/2))
		a.stroke(s.line(), a.means(stretch)...)
	}
}

// line returns the style of a series' line.
func (s series) line() draw.LineStyle { return draw.LineStyle{Color: s.color, Width: 1.6} }

// hasMean returns whether a point has a mean > 0. A logarithmic axis cannot show 0.
func hasMean(p Point) bool { return p.Mean > 0 }

// stretches returns the stretches of points that can be shown.
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

func (a area) means(points []Point) []place {
	var xys []place
	for _, p := range points {
		xys = append(xys, a.place(p, p.Mean))
	}
	return xys
}

// The band has the middle 8 of 10 runs.
const bandFrom, bandTo = 0.1, 0.9

// edge returns the rate that this share of a point's runs are below.
func edge(p Point, share float64) float64 {
	return stat.Quantile(share, stat.LinInterp, slices.Sorted(slices.Values(p.Rates)), nil)
}

// band returns the outline of the band: along its upper edge, and back along its lower edge.
func (a area) band(points []Point) []place {
	var upper, lower []place
	for _, p := range points {
		upper, lower = append(upper, a.place(p, edge(p, bandTo))), append(lower, a.place(p, edge(p, bandFrom)))
	}
	slices.Reverse(lower)
	return append(upper, lower...)
}

// formula returns the line of the formula, where its rates are ≥ lowest.
func (a area) formula(panel panel, c Config, f measuredFilter, lowest float64) (xys []place) {
	if c.K.isNone() {
		return curve(f, c.Keys, lowest)
	}
	for _, p := range panel.series[0].points {
		if p.Theory >= lowest {
			xys = append(xys, a.place(p, p.Theory))
		}
	}
	return xys
}

// curve returns the rates of the formula for a filter where they are ≥ lowest, in steps of a
// hundredth of the load.
func curve(f measuredFilter, keys int, lowest float64) []place {
	var xys []place
	for i := 1; i <= 10*maxLoadTenths; i++ {
		load := float64(i) / 100
		if y := f.formula(load * float64(keys)); y >= lowest {
			xys = append(xys, place{load, axisPosition(y)})
		}
	}
	return xys
}

func dashed() draw.LineStyle {
	return draw.LineStyle{Color: theme.Ink, Width: 1, Dashes: []vg.Length{4, 3}}
}

func withAlpha(c color.NRGBA, alpha uint8) color.Color {
	c.A = alpha
	return c
}

// grouped formats n with a comma between groups of three digits.
func grouped(n int) string { return humanize.Comma(int64(n)) }
