package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
)

// byEntries draws a line for each engine over the size of the table.
func (r *Results) byEntries(p *plot.Plot) (plot.Legend, bool, error) {
	p.X.Label.Text = "entries of the table"
	p.X.Scale = plot.LogScale{}
	legend, ok, err := r.lines(p, r.find(measure.SectionURLs))
	if p.X.Min == p.X.Max { // a logarithmic axis wants some length
		p.X.Min /= 10
		p.X.Max *= 10
	}
	p.X.Tick.Marker = plot.TickerFunc(powers)
	return legend, ok, err
}

// powers marks the powers of ten.
func powers(from, to float64) []plot.Tick {
	var ticks []plot.Tick
	for v := 1.0; v <= to*1.01; v *= 10 {
		if v >= from*0.99 {
			ticks = append(ticks, plot.Tick{Value: v, Label: figures.Grouped(int(v))})
		}
	}
	return ticks
}

// byBits draws a line for each engine over the bits that a key has.
func (r *Results) byBits(p *plot.Plot) (plot.Legend, bool, error) {
	p.X.Label.Text = "bits per key of the filter"
	rows := r.find(measure.SectionBits)
	var ticks []plot.Tick
	for _, row := range rows {
		ticks = append(ticks, plot.Tick{Value: row.X, Label: figures.Grouped(int(row.X))})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	return r.lines(p, rows)
}

// byKeys draws a line for each form over the number of keys. Both axes are logarithmic: a list
// takes a thousand times as long as a filter.
func (r *Results) byKeys(p *plot.Plot) (plot.Legend, bool, error) {
	p.X.Label.Text = "keys of the set"
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.TickerFunc(powers)
	legend, ok, err := r.lines(p, r.find(measure.AskAbsent))
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = plot.TickerFunc(powers)
	p.Y.Min = 1
	p.Y.Max = math.Pow(10, math.Ceil(math.Log10(p.Y.Max)))
	return legend, ok, err
}

// lines draws each column's medians over what the rows differ in.
func (r *Results) lines(p *plot.Plot, rows []measure.Row) (plot.Legend, bool, error) {
	legend := newLegend()
	columns := r.used(rows, func(c measure.Cell) bool { return len(c.Values) > 0 })
	for _, i := range columns {
		var xys plotter.XYs
		for _, row := range rows {
			if values := row.Cells[i].Values; len(values) > 0 {
				xys = append(xys, plotter.XY{X: row.X, Y: median(values)})
			}
		}
		line, points, err := plotter.NewLinePoints(xys)
		if err != nil {
			return legend, false, err
		}
		line.Color = dark(i)
		line.Width = 0.5 * vg.Millimeter
		line.Dashes = plotutil.Dashes(i)
		points.Color = dark(i)
		points.Shape = plotutil.DefaultGlyphShapes[i]
		points.Radius = 1.3 * vg.Millimeter
		p.Add(line, points)
		legend.Add(r.Columns[i].Name, line, points)
	}
	p.Y.Min = 0
	p.Y.Max *= 1.05
	return legend, len(columns) > 0, nil
}

// dark returns column i's colour for a line: dark enough on white.
func dark(i int) color.Color {
	colours := []color.Color{shades[0], shades[1], shades[2], color.Black, shades[4], color.Black, color.Gray{Y: 0x60}}
	return colours[i%len(colours)]
}
