package rates

import (
	"math"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// headroom is the space above the highest and below the lowest rate, in powers of ten.
const headroom = 0.12

// area returns the area of a panel, which has no canvas yet. It shows the rates of the runs, and the
// highest rates of the formula. f is an empty filter of the panel's.
func (panel panel) area(c Config, f measuredFilter) area {
	low, high := panel.rates()
	_, k := f.size()
	across := c.horizontal(k)
	return area{
		across: across,
		left:   across.from,
		right:  across.to + across.dotShift()*float64(len(panel.series))/2,
		low:    axisPosition(low) - headroom,
		high:   min(axisPosition(high)+headroom, axisPosition(1)),
	}
}

// A tick is a rate that the axis marks.
type tick struct {
	y     float64
	label string
}

// ticks marks the powers of ten, in percent. If there are few of them, it marks twice and five
// times as much too.
func (a area) ticks() []tick {
	var ticks []tick
	steps := []float64{1}
	if a.high-a.low < 2.7 {
		steps = []float64{1, 2, 5}
	}
	for e := math.Floor(a.low); e <= a.high; e++ {
		for _, step := range steps {
			if y := e + math.Log10(step); y >= a.low && y <= a.high+1e-9 {
				label := strconv.FormatFloat(step*math.Pow(10, e+2), 'f', int(max(0, -e-2)), 64)
				ticks = append(ticks, tick{y, theme.End + label + " %"})
			}
		}
	}
	return ticks
}

func tickStyle() draw.TextStyle {
	sty := draw.TextStyle{Font: layoutFont, Handler: textHandler(), Color: theme.Faint, YAlign: draw.YCenter}
	sty.Font.Size = 12
	return sty
}

// ticksWidth returns how much space the labels of the ticks take, with the gap behind them.
func (a area) ticksWidth() (width vg.Length) {
	sty := tickStyle()
	for _, t := range a.ticks() {
		width = max(width, sty.Width(t.label))
	}
	return width + sty.Width(" ")
}

// drawAxes draws the ticks with a line for each, and a line at the load that filters are sized for or,
// in a sweep, at the k of the policy.
func (a area) drawAxes() {
	sty, line := tickStyle(), draw.LineStyle{Color: theme.Grid, Width: 1}
	for _, t := range a.ticks() {
		y := a.at(place{y: t.y}).Y
		a.FillText(sty, vg.Point{X: a.Min.X - sty.Width(" "), Y: y + sty.FontExtents().Descent}, t.label)
		a.stroke(line, place{a.left, t.y}, place{a.right, t.y})
	}
	a.stroke(line, place{a.across.line, a.low}, place{a.across.line, a.high})
}

// Space that a frame takes above and below.
const (
	frameTop    = 28
	frameBottom = 22
)

// drawFrame draws the title above a panel, and the words below it: how full the filters are, or their k.
func (a area) drawFrame(title string) {
	sty := tickStyle()
	sty.YAlign = draw.YTop
	for _, tick := range a.fitting(sty) {
		a.FillText(sty, vg.Point{X: a.at(place{x: tick.at}).X, Y: a.Min.Y - frameBottom/3}, theme.Middle+tick.words)
	}
	sty.Font.Size, sty.Font.Weight, sty.Color, sty.YAlign = 14, xfont.WeightBold, theme.Ink, draw.YBottom
	a.FillText(sty, vg.Point{X: a.Min.X, Y: a.Max.Y + frameTop/3}, title)
}

// fitting returns as many ticks of the axis from left to right as do not touch, in any font.
func (a area) fitting(sty draw.TextStyle) []horizontalTick {
	for every := 1; ; every++ {
		ticks, end, fits := a.across.each(every), a.Min.X-1000, true
		for _, t := range ticks {
			x, half := a.at(place{x: t.at}).X, widthInAnyFont(sty, t.words)/2
			fits = fits && x-half >= end
			end = x + half + sty.Width(" ")
		}
		if fits || a.across.name == "" {
			return ticks
		}
	}
}
