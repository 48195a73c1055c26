package rates

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// headroom is the factor by which the axis extends beyond the highest and the lowest rate.
const headroom = 1.32

// plot returns the plot of a panel: a line for each shape, over the load or k. width is the approximate width of
// its horizontal axis, and legend the exact width of its legend.
func (panel panel) plot(c Config, width, legend vg.Length) (*plot.Plot, error) {
	low, high := panel.rates()
	low, high = low/headroom, min(high*headroom, 1)
	formula, upright, err := panel.formula(c, low)
	if err != nil {
		return nil, err
	}
	left, right := c.ends()
	shift := (right - left) / 107 // between the dots of two shapes
	light := draw.LineStyle{Color: theme.Grid, Width: 1}
	p := plot.New()
	p.BackgroundColor = nil
	p.Add(&plotter.Grid{Horizontal: light}, &plotter.Line{XYs: plotter.XYs{{X: upright, Y: low}, {X: upright, Y: high}}, LineStyle: light})
	for i, s := range slices.Backward(panel.series) { // the first is drawn over the others
		p.Add(s.plotters(c, low, shift*(float64(i)-float64(len(panel.series)-1)/2))...)
	}
	p.Add(formula, panel.frame(c, legend, low))
	setAxis(&p.X, left, right+shift*float64(len(panel.series))/2, c.ticks(width))
	p.X.Padding, p.X.Tick.Label.YAlign = 6, draw.YTop
	setAxis(&p.Y, low, high, rateTicks(low, high))
	p.Y.Scale, p.Y.Tick.Label.YAlign = plot.LogScale{}, draw.YCenter
	return p, nil
}

// formula returns the line of the formula, and the place of a vertical line: the load that filters are sized for
// or, in a sweep, the policy's k. Below low, the formula's line is not visible.
func (panel panel) formula(c Config, low float64) (line plot.Plotter, upright float64, err error) {
	f, err := panel.policy.empty(c.Keys, panel.bits, 0)
	if err != nil {
		return nil, 0, err
	}
	if !c.K.isNone() {
		_, k := f.size()
		return &plotter.Line{XYs: c.xys(panel.series[0].points, formulasRate), LineStyle: dashed()}, float64(k), nil
	}
	curve := plotter.NewFunction(func(load float64) float64 { return max(low/10, f.formula(load*float64(c.Keys))) })
	curve.XMin, curve.XMax, curve.Samples, curve.LineStyle = 0.01, float64(maxLoadTenths)/10, 10*maxLoadTenths, dashed()
	return curve, 1, nil
}

// ends returns the ends of the horizontal axis.
func (c Config) ends() (left, right float64) {
	if c.K.isNone() {
		return 0, float64(maxLoadTenths) / 10
	}
	return float64(c.K.From) - 0.5, float64(c.K.To)
}

// setAxis sets up an axis with labels, but without a line. Package theme aligns the labels.
func setAxis(a *plot.Axis, from, to float64, ticks []plot.Tick) {
	a.Min, a.Max, a.Padding, a.Width, a.Tick.Width = from, to, 0, 0, 0
	a.Tick.Label, a.Tick.Marker = styled(12, theme.Faint), plot.ConstantTicks(ticks)
}

// ticks labels how full filters are or, in a sweep, their k. It labels as many k as fit on an axis of this width,
// in any font.
func (c Config) ticks(width vg.Length) (ticks []plot.Tick) {
	if c.K.isNone() {
		for i, words := range []string{"empty", "half full", "full", "1.5 × full"} {
			ticks = append(ticks, plot.Tick{Value: float64(i) / 2, Label: theme.Middle + words})
		}
		return ticks
	}
	const room = 32 // half of "k = 10", half of the next number, and a space
	left, right := c.ends()
	every := int(math.Ceil(room * (right - left) / float64(width)))
	words := "k = "
	for k := (c.K.From + every - 1) / every * every; k <= c.K.To; k += every {
		ticks = append(ticks, plot.Tick{Value: float64(k), Label: theme.Middle + words + strconv.Itoa(k)})
		words = ""
	}
	return ticks
}

// rateTicks labels the powers of ten, in percent. If there are few, it also labels their multiples by 2 and 5.
func rateTicks(low, high float64) (ticks []plot.Tick) {
	steps := []float64{1}
	if high/low < 500 {
		steps = []float64{1, 2, 5}
	}
	for e := int(math.Floor(math.Log10(low))); math.Pow10(e) <= high; e++ {
		for _, step := range steps {
			if rate := step * math.Pow10(e); rate >= low && rate <= high {
				label := strconv.FormatFloat(step*math.Pow10(e+2), 'f', max(0, -e-2), 64)
				ticks = append(ticks, plot.Tick{Value: rate, Label: theme.End + label + " %"})
			}
		}
	}
	return ticks
}

// xys returns the positions of a rate of each point.
func (c Config) xys(points []Point, rate func(Point) float64) (xys plotter.XYs) {
	for _, p := range points {
		xys = append(xys, plotter.XY{X: c.x(p), Y: rate(p)})
	}
	return xys
}

// x returns the horizontal position of a point.
func (c Config) x(p Point) float64 {
	if c.K.isNone() {
		return p.Load
	}
	return float64(p.K)
}

// plotters returns the band, the dots and the line of a series. The dots are moved right by shift, so that the
// dots of several shapes do not hide each other.
func (s series) plotters(c Config, low, shift float64) (all []plot.Plotter) {
	for _, stretch := range stretches(s.points, func(p Point) bool { return lowEdge(p) >= low }) {
		band := &plotter.Polygon{XYs: []plotter.XYs{c.band(stretch)}, Color: withAlpha(s.color, 0x30)}
		band.LineStyle.Color = s.color // of zero width
		all = append(all, band)
	}
	all = append(all, dots{s, c, shift})
	for _, stretch := range stretches(s.points, hasMean) {
		all = append(all, &plotter.Line{XYs: c.xys(stretch, measuredRate), LineStyle: s.line()})
	}
	return all
}

// band returns the outline of a band: along its upper edge, and back along its lower edge.
func (c Config) band(points []Point) plotter.XYs {
	lower := c.xys(points, lowEdge)
	slices.Reverse(lower)
	return append(c.xys(points, highEdge), lower...)
}

// line returns the style of a series' line.
func (s series) line() draw.LineStyle { return draw.LineStyle{Color: s.color, Width: 1.6} }

func dashed() draw.LineStyle {
	return draw.LineStyle{Color: theme.Ink, Width: 1, Dashes: []vg.Length{4, 3}}
}

func withAlpha(c color.NRGBA, alpha uint8) color.Color {
	c.A = alpha
	return c
}

// dots draws the rates of the runs. All of them are one path, so that the style is written once.
type dots struct {
	series
	c     Config
	shift float64
}

// maxDots is the maximum number of runs drawn for a point. More dots would be a blot, and make the file large.
const maxDots = 100

const dotRadius = 1.2

// Plot implements plot.Plotter.
func (d dots) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	var path vg.Path
	for _, point := range d.points {
		for _, rate := range point.Rates[:min(len(point.Rates), maxDots)] {
			if rate > 0 {
				center := vg.Point{X: x(d.c.x(point) + d.shift), Y: y(rate)}
				path.Move(center.Add(vg.Point{X: dotRadius}))
				path.Arc(center, dotRadius, 0, 2*math.Pi)
				path.Close()
			}
		}
	}
	canvas.SetColor(withAlpha(d.color, 0xb0))
	canvas.Fill(path)
}

// A frame is the title above a plot, and the legend to its right. It reserves space for the legend.
type frame struct {
	title  string
	legend plot.Legend
	width  vg.Length // width of the legend, with the gap before it
}

const (
	legendGap = 14
	markWidth = 14 // width of the piece of line before a label
)

// frame returns the title and the legend of a panel whose axis starts at rate low. All panels list their labels
// in the same order.
func (panel panel) frame(c Config, width vg.Length, low float64) frame {
	l := plot.NewLegend()
	l.TextStyle, l.Top, l.Left, l.Padding, l.ThumbnailWidth = styled(12, theme.Ink), true, true, 4, markWidth
	for _, s := range panel.series {
		label := s.label
		if s.points[len(s.points)-1].Mean == 0 {
			label += ": 0"
		}
		l.Add(label, &plotter.Line{LineStyle: s.line()})
	}
	if slices.ContainsFunc(panel.series[0].points, func(p Point) bool { return p.Theory >= low }) {
		l.Add("formula", &plotter.Line{LineStyle: dashed()})
	}
	return frame{panel.title(c), l, width}
}

// legendWidth returns the width of the widest legend, in any font.
func legendWidth(panels []panel) vg.Length {
	sty := styled(12, theme.Ink)
	width := widthInAnyFont(sty, "formula")
	for _, s := range panels[0].series {
		width = max(width, widthInAnyFont(sty, s.label+": 0"))
	}
	return legendGap + markWidth + sty.Width(" ") + width
}

// Plot implements plot.Plotter.
func (f frame) Plot(canvas draw.Canvas, _ *plot.Plot) {
	sty := styled(14, theme.Ink)
	sty.Font.Weight = xfont.WeightBold
	canvas.FillText(sty, vg.Point{X: canvas.Min.X, Y: canvas.Max.Y + titleHeight/3}, f.title)
	canvas.Min.X = canvas.Max.X + legendGap
	f.legend.Draw(canvas)
}

// GlyphBoxes implements plot.GlyphBoxer.
func (f frame) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: f.width}}}}
}
