package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// A legend names lines, side by side and, where there is no more room, below each other.
type legend []drawnLine

func (p *linePlot) legend() legend { return p.drawn }

const (
	legendLine vg.Length = 20
	legendMark vg.Length = 26 // the width of a piece of line
	legendGap  vg.Length = 18
)

func legendStyle() draw.TextStyle { return styled(textSize, theme.Ink, draw.XLeft) }

// places returns where each name's piece of line begins, from the top left, and the height of all.
func (all legend) places(width vg.Length) (places []vg.Point, height vg.Length) {
	var at vg.Point
	for _, l := range all {
		w := legendMark + 6 + wider*legendStyle().Width(l.name)
		if at.X > 0 && at.X+w > width {
			at = vg.Point{Y: at.Y + legendLine}
		}
		places = append(places, at)
		at.X += w + legendGap
	}
	return places, at.Y + legendLine
}

func (all legend) height(width vg.Length) vg.Length {
	_, height := all.places(width)
	return height
}

// draw draws the legend at the top of c, and returns what is left of c.
func (all legend) draw(c draw.Canvas) draw.Canvas {
	places, height := all.places(c.Size().X)
	for i, l := range all {
		x, y := c.Min.X+places[i].X, c.Max.Y-places[i].Y-legendLine/2
		c.StrokeLine2(l.style.line, x, y, x+legendMark, y)
		c.DrawGlyph(l.style.glyph, vg.Point{X: x + legendMark/2, Y: y})
		c.FillText(legendStyle(), vg.Point{X: x + legendMark + 6, Y: y}, l.name)
	}
	return draw.Crop(c, 0, 0, 0, -height)
}
