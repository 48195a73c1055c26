package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/theme"
)

// axes returns a plot without lines.
func (l lines) axes(rows []measure.Row) (*plot.Plot, error) {
	x, y, err := extent(rows)
	if err != nil {
		return nil, err
	}
	p := plot.New()
	p.BackgroundColor = nil
	p.X.LineStyle = draw.LineStyle{Color: theme.Faint, Width: 1}
	p.X.Tick.LineStyle, p.X.Tick.Length = p.X.LineStyle, 5
	p.X.Padding, p.X.Label.Padding = 0, 5
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width, p.Y.Padding = 0, 0, 8
	p.X.Label.Text = l.x
	p.X.Label.TextStyle = styled(textSize, theme.Ink, draw.XCenter)
	p.X.Label.TextStyle.YAlign = draw.YBottom
	p.X.Tick.Label = styled(noteSize, theme.Faint, draw.XCenter)
	p.X.Tick.Label.YAlign = draw.YTop
	p.Y.Tick.Label = styled(noteSize, theme.Faint, draw.XRight)
	p.Y.Tick.Label.YAlign = draw.YCenter
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: theme.Grid, Width: 1}
	p.Add(grid)
	l.scale(p, rows, x, y)
	return p, nil
}

// scale sets the axes' scales for values between these.
func (l lines) scale(p *plot.Plot, rows []measure.Row, x, y [2]float64) {
	if l.logX {
		p.X.Scale = plot.LogScale{}
		p.X.Min, p.X.Max = x[0], x[1]
		if x[0] == x[1] { // a logarithmic axis wants some length
			p.X.Min, p.X.Max = x[0]/10, x[1]*10
		}
	}
	var ticks []plot.Tick
	for _, row := range rows {
		ticks = append(ticks, plot.Tick{Value: row.X, Label: tick(row.X, "")})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	if l.logY {
		logarithmic(&p.Y, y[0], y[1], " ns")
	} else {
		linear(&p.Y, y[1], " ns")
	}
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
		ticks = append(ticks, plot.Tick{Value: v, Label: tick(v, unit)})
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// linear sets a scale from 0 to a few steps, the last of which is ≥ high > 0.
func linear(a *plot.Axis, high float64, unit string) {
	step := rounds(high/5, high/5)[1]
	var ticks []plot.Tick
	for v := 0.0; v < high+step; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: tick(v, unit)})
	}
	a.Min, a.Max = 0, ticks[len(ticks)-1].Value
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

func tick(v float64, unit string) string { return figures.Grouped(int(math.Round(v))) + unit }

// extent returns the least and greatest figure of the rows, and of what they differ in. All must be
// > 0.
func extent(rows []measure.Row) (x, y [2]float64, err error) {
	x, y = [2]float64{math.Inf(1), 0}, [2]float64{math.Inf(1), 0}
	for _, row := range rows {
		if row.X <= 0 {
			return x, y, fmt.Errorf("row %s is at %v, want > 0", row.ID, row.X)
		}
		x = [2]float64{min(x[0], row.X), max(x[1], row.X)}
		for _, c := range row.Cells {
			if len(c.Values) > 0 {
				m := median(c.Values)
				if m <= 0 {
					return x, y, fmt.Errorf("row %s has a median of %v, want > 0", row.ID, m)
				}
				y = [2]float64{min(y[0], m), max(y[1], m)}
			}
		}
	}
	return x, y, nil
}
