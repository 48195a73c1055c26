package report

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// axes returns a plot without lines.
func (p *linePlot) axes() (*plot.Plot, error) {
	x, y, err := p.extent()
	if err != nil {
		return nil, err
	}
	a := plot.New()
	a.BackgroundColor = nil
	a.X.LineStyle = draw.LineStyle{Color: theme.Faint, Width: 1}
	a.X.Tick.LineStyle, a.X.Tick.Length = a.X.LineStyle, 5
	a.X.Padding, a.X.Label.Padding = 0, 5
	a.Y.LineStyle.Width, a.Y.Tick.LineStyle.Width, a.Y.Padding = 0, 0, 8
	a.X.Label.Text = p.x
	a.X.Label.TextStyle = styled(textSize, theme.Ink, draw.XCenter)
	a.X.Label.TextStyle.YAlign = draw.YBottom
	a.X.Tick.Label = styled(noteSize, theme.Faint, draw.XCenter)
	a.X.Tick.Label.YAlign = draw.YTop
	a.Y.Tick.Label = styled(noteSize, theme.Faint, draw.XRight)
	a.Y.Tick.Label.YAlign = draw.YCenter
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: theme.Grid, Width: 1}
	a.Add(grid)
	p.scale(a, x, y)
	return a, nil
}

// scale sets the axes' scales for values between these.
func (p *linePlot) scale(a *plot.Plot, x, y [2]float64) {
	a.X.Min, a.X.Max = x[0], x[1]
	if p.logX {
		a.X.Scale = plot.LogScale{}
	}
	if x[0] == x[1] { // an axis wants some length
		a.X.Min, a.X.Max = x[0]/10, x[1]*10
	}
	var ticks []plot.Tick
	for _, row := range p.rows {
		ticks = append(ticks, plot.Tick{Value: row.X, Label: short(row.X)})
	}
	a.X.Tick.Marker = plot.ConstantTicks(ticks)
	logarithmic(&a.Y, y[0], y[1], p.unit)
}

// rounds returns the steps of a logarithmic axis, from the greatest that is ≤ low > 0 to the least
// that is ≥ high: the powers of ten if there are more than three, and else 1, 2 and 5 times these.
func rounds(low, high float64) []float64 {
	factors := []float64{1, 2, 5}
	if high/low > 300 {
		factors = []float64{1}
	}
	var steps []float64
	for power := math.Pow(10, math.Floor(math.Log10(low))); ; power *= 10 {
		for _, f := range factors {
			step := f * power
			if step <= low*1.001 {
				steps = steps[:0]
			}
			steps = append(steps, step)
			if step >= high*0.999 && len(steps) > 1 {
				return steps
			}
		}
	}
}

// logarithmic sets a scale for figures of low to high, both > 0.
func logarithmic(a *plot.Axis, low, high float64, unit string) {
	steps := rounds(low, high)
	a.Scale = plot.LogScale{}
	a.Min, a.Max = steps[0], steps[len(steps)-1]
	var ticks []plot.Tick
	for _, v := range steps {
		ticks = append(ticks, plot.Tick{Value: v, Label: tick(v) + unit})
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// tick writes a step of rounds.
func tick(v float64) string {
	if v < 1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return whole(v)
}

// short writes a number with k for a thousand and M for a million, as axes have room for.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 4, 64) + "M"
	case v >= 1e3:
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return whole(v)
}

// extent returns the least and greatest figure of the lines, and of what the rows differ in. All must be
// > 0.
func (p *linePlot) extent() (x, y [2]float64, err error) {
	x, y = [2]float64{math.Inf(1), 0}, [2]float64{math.Inf(1), 0}
	for _, row := range p.rows {
		if row.X <= 0 {
			return x, y, fmt.Errorf("row %s is at %v, want > 0", row.ID, row.X)
		}
		x = [2]float64{min(x[0], row.X), max(x[1], row.X)}
	}
	for _, l := range p.drawn {
		for _, at := range l.points {
			if at.low <= 0 {
				return x, y, fmt.Errorf("%s at %v has a figure of %v, want > 0", l.name, at.x, at.low)
			}
			y = [2]float64{min(y[0], at.low), max(y[1], at.high)}
		}
	}
	return x, y, nil
}
