package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// An end is where a line ends, and what it is.
type end struct {
	name  string
	at    plotter.XY
	style style
}

// nameEnds names the lines behind their ends, in the plot that was drawn on c.
func nameEnds(c draw.Canvas, p *plot.Plot, ends []end) {
	data := p.DataCanvas(c)
	x, y := p.Transforms(&data)
	var wanted []vg.Length
	for _, e := range ends {
		wanted = append(wanted, y(e.at.Y))
	}
	for i, at := range theme.Spread(wanted, labelStep, data.Min.Y, data.Max.Y) {
		e := ends[i]
		from := x(e.at.X) + 7
		thin := draw.LineStyle{Color: e.style.line.Color, Width: 0.75}
		c.StrokeLine2(thin, from, wanted[i], from+10, at)
		c.FillText(styled(textSize, theme.Ink, draw.XLeft), vg.Point{X: from + 14, Y: at}, e.name)
	}
}
