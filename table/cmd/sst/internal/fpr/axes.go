package fpr

import (
	"math"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// headroom is the space above the highest and below the lowest rate, in powers of ten.
const headroom = 0.12

// setLimits sets which loads and rates a panel shows: those of the runs, and the highest rates of
// the formula.
func (panel panel) setLimits(p *plot.Plot, f measuredFilter, c Config) {
	low, high := panel.rates()
	formula := f.formula(float64(c.keysAt(maxLoadTenths)))
	p.X.Min, p.X.Max = 0, float64(maxLoadTenths)/10+dotShift*float64(len(panel.series))/2
	p.Y.Min, p.Y.Max = axisPosition(low)-headroom, min(axisPosition(max(high, formula))+headroom, axisPosition(1))
}

// setAxes sets what the axes of a panel are like.
func setAxes(p *plot.Plot) {
	p.HideX() // see frame
	p.Y.LineStyle.Width = 0
	p.Y.Tick.LineStyle.Width = 0
	p.Y.Tick.Length = 3
	p.Y.Tick.Label.Font.Size = 12
	p.Y.Tick.Label.Color = theme.Faint
	p.Y.Tick.Label.XAlign = draw.XLeft // package theme aligns them, in any font
	p.Y.Tick.Marker = plot.TickerFunc(rateTicks)
	p.Y.Padding = 0
}

// rateTicks marks the powers of ten, in percent. If there are few of them, it marks twice and
// five times as much too.
func rateTicks(from, to float64) []plot.Tick {
	var ticks []plot.Tick
	steps := []float64{1}
	if to-from < 2.7 {
		steps = []float64{1, 2, 5}
	}
	for e := math.Floor(from); e <= to; e++ {
		for _, step := range steps {
			if y := e + math.Log10(step); y >= from && y <= to+1e-9 {
				label := strconv.FormatFloat(step*math.Pow(10, e+2), 'f', int(max(0, -e-2)), 64)
				ticks = append(ticks, plot.Tick{Value: y, Label: theme.End + label + " %"})
			}
		}
	}
	return ticks
}

// grid has a line at each tick of the rates.
func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	g.Horizontal = draw.LineStyle{Color: theme.Grid, Width: 1}
	return g
}

// full is a line at the load that filters are sized for.
func full(p *plot.Plot) *plotter.Line {
	return &plotter.Line{XYs: plotter.XYs{{X: 1, Y: p.Y.Min}, {X: 1, Y: p.Y.Max}}, LineStyle: draw.LineStyle{Color: theme.Grid, Width: 1}}
}

// A frame is the title above a panel, and the words below it that say how full the filters are.
// plot's own title and labels would make panels beside each other differ in height.
type frame struct{ title string }

// Space that a frame takes above and below.
const (
	frameTop    = 28
	frameBottom = 22
)

// Plot implements plot.Plotter.
func (f frame) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	sty := p.Y.Tick.Label
	sty.YAlign = draw.YTop
	for load, words := range []string{"empty", "half full", "full", "1.5 × full"} {
		c.FillText(sty, vg.Point{X: x(float64(load) / 2), Y: c.Min.Y - frameBottom/3}, theme.Middle+words)
	}
	sty.Font.Size, sty.Font.Weight, sty.Color, sty.YAlign = 14, xfont.WeightBold, theme.Ink, draw.YBottom
	c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Max.Y + frameTop/3}, f.title)
}
