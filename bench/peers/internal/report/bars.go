package report

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// A bar is a figure with its name. Its length is its value.
type bar struct {
	name, figure string
	value        float64
	color        color.Color
}

// A panel is bars below each other, under a title.
type panel struct {
	title string
	bars  []bar
	note  string // below the bars
}

const (
	panelTitle  vg.Length = 28
	barStep     vg.Length = 22
	barHeight   vg.Length = 14
	panelNote   vg.Length = 20
	panelGap    vg.Length = 18
	namesWidth  vg.Length = 170
	figureWidth vg.Length = 80
)

func (p panel) height() vg.Length {
	h := panelTitle + vg.Length(len(p.bars))*barStep
	if p.note != "" {
		h += panelNote
	}
	return h
}

// draw draws the panel at the top of c. A bar of the value full is as long as there is room for.
func (p panel) draw(c draw.Canvas, full float64) {
	c.FillText(bold(styled(panelSize, theme.Ink, draw.XLeft)), vg.Point{X: c.Min.X, Y: c.Max.Y - panelSize/2 - 3}, p.title)
	left, top := c.Min.X+namesWidth, c.Max.Y-panelTitle
	room := c.Max.X - figureWidth - left
	for i, b := range p.bars {
		b.draw(c, left, top-(vg.Length(i)+0.5)*barStep, max(1, vg.Length(b.value/full)*room))
	}
	bottom := top - vg.Length(len(p.bars))*barStep
	c.StrokeLine2(draw.LineStyle{Color: theme.Faint, Width: 1}, left, top, left, bottom)
	c.FillText(styled(noteSize, theme.Faint, draw.XLeft), vg.Point{X: left, Y: bottom - panelNote/2}, p.note)
}

// draw draws the bar from the left, between its name and its figure.
func (b bar) draw(c draw.Canvas, left, at, length vg.Length) {
	low, high := at-barHeight/2, at+barHeight/2
	c.FillPolygon(b.color, []vg.Point{{X: left, Y: low}, {X: left + length, Y: low}, {X: left + length, Y: high}, {X: left, Y: high}})
	c.FillText(styled(textSize, theme.Ink, draw.XRight), vg.Point{X: left - 8, Y: at}, b.name)
	c.FillText(styled(textSize, theme.Ink, draw.XLeft), vg.Point{X: left + length + 6, Y: at}, b.figure)
}

// longest is the greatest value of all bars, or 1 if they are all 0.
func longest(panels ...panel) float64 {
	full := 0.0
	for _, p := range panels {
		for _, b := range p.bars {
			full = max(full, b.value)
		}
	}
	if full == 0 {
		return 1
	}
	return full
}
