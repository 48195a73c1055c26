package fpr

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// maxDots is how many runs of a point are drawn. More dots are a blot, and make the file large.
const maxDots = 100

const dotRadius = 1.2

// dotShift is the distance between the dots of two shapes, as a load.
const dotShift = 0.014

// dots draws the rate of each run as a dot. It draws all of them as one path: a plotter.Scatter
// repeats the style for each.
type dots struct {
	points []Point
	color  color.NRGBA
	shift  float64 // to the right, as a load
}

// Plot implements plot.Plotter.
func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var path vg.Path
	for _, point := range d.points {
		for _, rate := range point.Rates[:min(len(point.Rates), maxDots)] {
			if rate > 0 {
				addDot(&path, vg.Point{X: x(point.Load + d.shift), Y: y(axisPosition(rate))})
			}
		}
	}
	c.SetColor(withAlpha(d.color, 0xb0))
	c.Fill(path)
}

func addDot(path *vg.Path, center vg.Point) {
	path.Move(vg.Point{X: center.X + dotRadius, Y: center.Y})
	path.Arc(center, dotRadius, 0, 2*math.Pi)
	path.Close()
}
