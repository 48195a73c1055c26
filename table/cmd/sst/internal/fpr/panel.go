package fpr

import (
	"image/color"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bottomMargin is the space below the lowest rate for its mark, in powers of ten.
const bottomMargin = 0.15

// A panel shows the points of one shape and policy.
type panel struct {
	title  string
	policy policy
	series [][]Point // of each number of bits per key, by load
}

// panels splits the points of a measurement, shape by shape.
func (c Config) panels(points []Point) []panel {
	var all []panel
	for _, shape := range c.shapes() {
		for _, name := range c.Policies {
			p := panel{title: shape.title, policy: policyOf(name)}
			if len(c.Policies) > 1 {
				p.title += " (" + name + ")"
			}
			for len(points) > 0 && points[0].Shape == shape.name && points[0].Policy == name {
				p.series = append(p.series, points[:maxLoadTenths])
				points = points[maxLoadTenths:]
			}
			all = append(all, p)
		}
	}
	return all
}

// plot draws a line for each number of bits per key.
func (panel panel) plot(c Config) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = panel.title
	p.Title.TextStyle.Font.Size = 12
	p.Title.Padding = 2 * vg.Millimeter
	p.X.Label.Text = "load: keys added ÷ keys sized for"
	p.Y.Label.Text = "false positives per absent key"
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size = 11
		a.Label.Padding = 1.5 * vg.Millimeter
		a.Tick.Label.Font.Size = 10
	}
	p.X.Tick.Marker = plot.TickerFunc(tenths)
	p.Y.Tick.Marker = plot.TickerFunc(powers)
	p.Add(grid())
	for i, s := range panel.series {
		if err := panel.addSeries(c, p, s, i); err != nil {
			return nil, err
		}
	}
	p.X.Min, p.X.Max = 0, float64(maxLoadTenths)/10
	p.Y.Min, p.Y.Max = axisPosition(panel.series[0][0].floor())-bottomMargin, axisPosition(1)
	return p, nil
}

// axisPosition returns where a rate is on the axis. The axis shows powers of ten. It is not
// plot's logarithmic axis, because that one puts its title in the wrong place.
func axisPosition(rate float64) float64 { return math.Log10(rate) }

// floor is the lowest rate > 0 that the runs can measure.
func (p Point) floor() float64 { return 1 / float64(p.Questions*len(p.Rates)) }

// addSeries adds a line with its band and its dots, and the curve of the formula.
func (panel panel) addSeries(c Config, p *plot.Plot, points []Point, i int) error {
	for _, stretch := range nonzeroStretches(points) {
		band, err := plotter.NewPolygon(band(stretch))
		if err != nil {
			return err
		}
		band.Color = translucent(seriesColors[i])
		band.LineStyle.Width = 0
		line, glyphs, err := plotter.NewLinePoints(means(stretch))
		if err != nil {
			return err
		}
		style(line, glyphs, i)
		p.Add(band, dots{points: stretch, color: seriesColors[i]}, line, glyphs)
	}
	f, err := panel.policy.empty(c.Keys, points[0].Bits)
	if err != nil {
		return err
	}
	p.Add(&plotter.Line{XYs: curve(f, c.Keys, points[0].floor()), LineStyle: dashed(seriesColors[i])})
	return nil
}

// nonzeroStretches returns the stretches of points with rates > 0. A logarithmic axis cannot
// show 0.
func nonzeroStretches(points []Point) [][]Point {
	var stretches [][]Point
	from := 0
	for i := range len(points) + 1 {
		if i < len(points) && points[i].Mean > 0 {
			continue
		}
		if i > from {
			stretches = append(stretches, points[from:i])
		}
		from = i + 1
	}
	return stretches
}

func means(points []Point) plotter.XYs {
	var xys plotter.XYs
	for _, p := range points {
		xys = append(xys, plotter.XY{X: p.Load, Y: axisPosition(p.Mean)})
	}
	return xys
}

// band returns the outline of the band: along its upper edge, and back along its lower
// edge, which is ≥ the floor.
func band(points []Point) plotter.XYs {
	var xys plotter.XYs
	for _, p := range points {
		xys = append(xys, plotter.XY{X: p.Load, Y: axisPosition(p.High)})
	}
	for i := len(points) - 1; i >= 0; i-- {
		p := points[i]
		xys = append(xys, plotter.XY{X: p.Load, Y: axisPosition(max(p.Low, p.floor()))})
	}
	return xys
}

// curve returns the rates of the formula for a filter where they are ≥ the floor, in steps of a
// hundredth of the load.
func curve(f measuredFilter, keys int, floor float64) plotter.XYs {
	var xys plotter.XYs
	for i := 1; i <= 10*maxLoadTenths; i++ {
		load := float64(i) / 100
		if y := f.formula(load * float64(keys)); y >= floor {
			xys = append(xys, plotter.XY{X: load, Y: axisPosition(y)})
		}
	}
	return xys
}

func style(line *plotter.Line, glyphs *plotter.Scatter, i int) {
	line.Color = seriesColors[i]
	line.Width = 0.5 * vg.Millimeter
	glyphs.Color = seriesColors[i]
	glyphs.Shape = seriesMarks[i]
	glyphs.Radius = 0.8 * vg.Millimeter
}

func dashed(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: 0.35 * vg.Millimeter, Dashes: []vg.Length{1.6 * vg.Millimeter, 1 * vg.Millimeter}}
}

// translucent returns the colour with an alpha of 1/4.
func translucent(c color.RGBA) color.Color { return color.NRGBA{R: c.R, G: c.G, B: c.B, A: 0x40} }

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = color.Gray{Y: 0xe4}
	g.Horizontal.Color = color.Gray{Y: 0xe4}
	return g
}

// tenths marks each tenth of the load, and labels every half.
func tenths(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for i := range maxLoadTenths + 1 {
		t := plot.Tick{Value: float64(i) / 10}
		if i%5 == 0 {
			t.Label = strconv.FormatFloat(t.Value, 'f', 1, 64)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// powers marks the powers of ten, in percent.
func powers(from, to float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Ceil(from - 1e-9); e <= to; e++ {
		percent := strconv.FormatFloat(math.Pow(10, e+2), 'f', int(max(0, -e-2)), 64)
		ticks = append(ticks, plot.Tick{Value: e, Label: percent + " %"})
	}
	return ticks
}

// grouped formats n with a comma between groups of three digits.
func grouped(n int) string { return humanize.Comma(int64(n)) }
