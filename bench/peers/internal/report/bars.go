package report

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// A bar is a figure with its name. Its length is the median, and a thin line shows the range.
type bar struct {
	name, figure string
	length       span
	color        color.Color
	hollow       bool
}

// A panel is bars below each other, under what they are of and what they find.
type panel struct {
	title, finding string
	bars           []bar
}

// alt returns the panel's title and finding as one text.
func (p panel) alt() string {
	return strings.TrimSuffix(p.title+": "+p.finding, ": ")
}

const (
	panelTitle  vg.Length = 44 // with the finding
	barStep     vg.Length = 22
	barHeight   vg.Length = 13
	panelGap    vg.Length = 18
	panelsApart vg.Length = 24
	namesWidth  vg.Length = 152
	figureWidth vg.Length = 112
)

// panels are beside each other where there is room, and else below each other. Each has its own scale.
type panels []panel

// columns returns how many panels are beside each other.
func (all panels) columns(width vg.Length) int {
	if width < 2*(narrowWidth+panelsApart) {
		return 1
	}
	return 2
}

func (all panels) height(width vg.Length) (h vg.Length) {
	for n := all.columns(width); len(all) > 0; all = all[min(n, len(all)):] {
		h += all[:min(n, len(all))].tallest() + panelGap
	}
	return h - panelGap
}

func (all panels) tallest() (h vg.Length) {
	for _, p := range all {
		h = max(h, panelTitle+vg.Length(len(p.bars))*barStep)
	}
	return h
}

func (all panels) draw(c draw.Canvas) error {
	n := all.columns(c.Size().X)
	step := (c.Size().X + panelsApart) / vg.Length(n)
	for ; len(all) > 0; all = all[min(n, len(all)):] {
		row := all[:min(n, len(all))]
		for i, p := range row {
			left := vg.Length(i) * step
			p.draw(draw.Crop(c, left, left+step-panelsApart-c.Size().X, 0, 0))
		}
		c = draw.Crop(c, 0, 0, 0, -row.tallest()-panelGap)
	}
	return nil
}

// draw draws the panel at the top of c.
func (p panel) draw(c draw.Canvas) {
	at := vg.Point{X: c.Min.X, Y: c.Max.Y - panelSize/2 - 2}
	c.FillText(bold(styled(panelSize, theme.Ink, draw.XLeft)), at, p.title)
	at.Y -= panelSize/2 + textSize/2 + 5
	c.FillText(styled(textSize, theme.Ink, draw.XLeft), at, sentence(p.finding))
	left, top := c.Min.X+namesWidth, c.Max.Y-panelTitle
	scale := (c.Max.X - figureWidth - left) / vg.Length(p.longest())
	for i, b := range p.bars {
		b.draw(c, left, top-(vg.Length(i)+0.5)*barStep, scale)
	}
	bottom := top - vg.Length(len(p.bars))*barStep
	c.StrokeLine2(draw.LineStyle{Color: theme.Faint, Width: 1}, left, top, left, bottom)
}

// longest is what the longest bar or line shows.
func (p panel) longest() (most float64) {
	for _, b := range p.bars {
		most = max(most, b.length.high)
	}
	if most == 0 {
		return 1
	}
	return most
}

// draw draws the bar from the left, between its name and its figure.
func (b bar) draw(c draw.Canvas, left, at, scale vg.Length) {
	low, high := at-barHeight/2, at+barHeight/2
	right := left + max(1, vg.Length(b.length.mid)*scale)
	corners := []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}, {X: left, Y: low}}
	if b.hollow {
		c.StrokeLines(draw.LineStyle{Color: b.color, Width: 1.5}, corners)
	} else {
		c.FillPolygon(b.color, corners)
	}
	end := left + vg.Length(b.length.high)*scale
	if b.length.high > b.length.low {
		c.StrokeLine2(draw.LineStyle{Color: theme.Ink, Width: 1}, left+vg.Length(b.length.low)*scale, at, end, at)
	}
	c.FillText(styled(textSize, theme.Ink, draw.XRight), vg.Point{X: left - 7, Y: at}, b.name)
	c.FillText(styled(textSize, theme.Ink, draw.XLeft), vg.Point{X: max(right, end) + 5, Y: at}, b.figure)
}
