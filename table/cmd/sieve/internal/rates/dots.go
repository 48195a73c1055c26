package rates

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// maxDots is how many runs of a point are drawn. More dots are a blot, and make the file large.
const maxDots = 100

const dotRadius = 1.2

// drawDots draws the rate of each run as a dot, shift to the right of its place. All of them are one
// path, which has the style once.
func (a area) drawDots(points []Point, c color.NRGBA, shift float64) {
	var path vg.Path
	for _, point := range points {
		for _, rate := range point.Rates[:min(len(point.Rates), maxDots)] {
			if rate > 0 {
				center := a.place(point, rate)
				center.x += shift
				addDot(&path, a.at(center))
			}
		}
	}
	a.SetColor(withAlpha(c, 0xb0))
	a.Fill(path)
}

func addDot(path *vg.Path, center vg.Point) {
	path.Move(vg.Point{X: center.X + dotRadius, Y: center.Y})
	path.Arc(center, dotRadius, 0, 2*math.Pi)
	path.Close()
}
