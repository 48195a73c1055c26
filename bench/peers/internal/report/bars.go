package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
)

// byEngine draws a bar for each engine's lookups of each kind.
func (r *Results) byEngine(p *plot.Plot) (plot.Legend, bool, error) {
	legend := newLegend()
	var rows []measure.Row
	var names []string
	for _, kind := range []struct{ id, name string }{
		{measure.GetAbsentWarm, "absent, warm"},
		{measure.GetPresentWarm, "present, warm"},
		{measure.GetPresentCold, "present, cold"},
	} {
		if found := r.find("W1-snappy/" + kind.id); len(found) == 1 {
			rows = append(rows, found[0])
			names = append(names, kind.name)
		}
	}
	columns := r.used(rows, func(c measure.Cell) bool { return len(c.Values) > 0 })
	if len(columns) == 0 {
		return legend, false, nil
	}
	const width = 6.5 * vg.Millimeter
	for n, i := range columns {
		offset := (vg.Length(n) - vg.Length(len(columns)-1)/2) * width
		bars, err := r.bars(p, rows, i, width, offset)
		if err != nil {
			return legend, false, err
		}
		legend.Add(r.Columns[i].Name, bars)
	}
	p.NominalX(names...)
	p.X.Label.Text = "kind of lookup"
	p.Y.Max *= 1.08 // for the figures
	return legend, true, nil
}

// bars adds column i's bars, each under its figure.
func (r *Results) bars(p *plot.Plot, rows []measure.Row, i int, width, offset vg.Length) (*plotter.BarChart, error) {
	heights := make(plotter.Values, len(rows))
	var labels plotter.XYLabels
	for x, row := range rows {
		label := "—"
		if len(row.Cells[i].Values) > 0 {
			heights[x] = median(row.Cells[i].Values)
			label = figures.Digits(heights[x])
		}
		labels.XYs = append(labels.XYs, plotter.XY{X: float64(x), Y: heights[x]})
		labels.Labels = append(labels.Labels, label)
	}
	bars, err := plotter.NewBarChart(heights, width)
	if err != nil {
		return nil, err
	}
	bars.Color = shades[i%len(shades)]
	bars.Offset = offset
	figures, err := plotter.NewLabels(labels)
	if err != nil {
		return nil, err
	}
	figures.Offset = vg.Point{X: offset, Y: 1 * vg.Millimeter}
	for n := range figures.TextStyle {
		figures.TextStyle[n].XAlign = draw.XCenter
		figures.TextStyle[n].Font = font.From(sans, 8)
	}
	p.Add(bars, figures)
	return bars, nil
}
