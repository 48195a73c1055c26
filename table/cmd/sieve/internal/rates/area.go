package rates

import (
	"image/color"
	"sync"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// layoutFont is the font that texts are measured in. Package theme replaces it where a viewer
// does not have it.
var layoutFont = font.Font{Typeface: "Liberation", Variant: "Sans"}

// textHandler measures texts. It reads the fonts when the first chart is drawn. Package plot itself
// reads them whenever a program starts that imports it, which is longer than a lookup takes. So
// charts are drawn with the packages below it.
var textHandler = sync.OnceValue(func() text.Handler {
	return text.Plain{Fonts: font.NewCache(liberation.Collection())}
})

// An area is where a panel shows its data: loads or k from left to right, and rates upwards.
type area struct {
	draw.Canvas
	across      horizontal
	left, right float64 // the ends of the axis from left to right
	low, high   float64 // the lowest and the highest position on the axis of rates
}

// A place is where something is shown: at a load or k, and at a position on the axis of rates.
type place struct{ x, y float64 }

func (a area) at(p place) vg.Point {
	return vg.Point{X: a.X((p.x - a.left) / (a.right - a.left)), Y: a.Y((p.y - a.low) / (a.high - a.low))}
}

// place returns where a rate of a point is shown.
func (a area) place(p Point, rate float64) place { return place{a.across.of(p), axisPosition(rate)} }

func (a area) all(places []place) []vg.Point {
	points := make([]vg.Point, len(places))
	for i, p := range places {
		points[i] = a.at(p)
	}
	return points
}

// stroke draws a line, as far as it is in the area.
func (a area) stroke(sty draw.LineStyle, places ...place) {
	a.StrokeLines(sty, a.ClipLinesXY(a.all(places))...)
}

// fill fills what is inside an outline, as far as it is in the area.
func (a area) fill(c color.Color, outline []place) {
	a.FillPolygon(c, a.ClipPolygonXY(a.all(outline)))
}
