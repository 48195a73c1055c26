package fpr

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// Sizes of labels.
const (
	labelSize   = 12
	labelHeight = 15
	labelGap    = 14 // between the end of a line and its label
)

// A label stands right of a panel, at the end of a line.
type label struct {
	text  string
	color color.Color
	end   place // of the line
	drawn bool  // the line has an end
}

// endLabels are the labels of a panel. They do not touch, so they can be higher or lower than the
// ends of their lines.
type endLabels []label

// labels returns the labels of a panel, whose area shows rates ≥ lowest. Labels of lines that end below
// that are at the bottom.
func (a area) labels(panel panel, formula []place, lowest float64) endLabels {
	var all endLabels
	for _, s := range panel.series {
		l := label{text: s.label, color: s.color}
		switch last := s.points[len(s.points)-1]; {
		case last.Mean >= lowest:
			l.end, l.drawn = a.place(last, last.Mean), true
		case last.Mean == 0:
			l.text += ": 0"
		}
		all = append(all, l)
	}
	if len(formula) > 0 {
		all = append(all, label{"formula", theme.Ink, formula[len(formula)-1], true})
	}
	return all
}

// labelsWidth returns how much space the labels of all panels take, in any font.
func labelsWidth(panels []panel) vg.Length {
	var width vg.Length
	sty := labelStyle()
	for _, panel := range panels {
		for _, s := range panel.series {
			width = max(width, widthInAnyFont(sty, s.label+": 0"))
		}
	}
	return labelGap + max(width, widthInAnyFont(sty, "formula"))
}

func labelStyle() draw.TextStyle {
	sty := draw.TextStyle{Font: layoutFont, Handler: textHandler(), YAlign: draw.YCenter}
	sty.Font.Size = labelSize
	return sty
}

func (a area) drawLabels(labels endLabels) {
	bottom := a.Min.Y + labelHeight/2
	var heights []vg.Length
	ends := make([]vg.Point, len(labels))
	for i, l := range labels {
		ends[i] = a.Min
		if l.drawn {
			ends[i] = a.at(l.end)
		}
		heights = append(heights, ends[i].Y)
	}
	for i, at := range theme.Spread(heights, labelHeight, bottom, a.Max.Y) {
		labels[i].draw(a.Canvas, ends[i], at)
	}
}

// draw draws a label at a height, and a line to the end that it belongs to.
func (l label) draw(c draw.Canvas, end vg.Point, at vg.Length) {
	if l.drawn {
		c.StrokeLines(draw.LineStyle{Color: l.color, Width: 0.6}, []vg.Point{end, {X: c.Max.X + labelGap - 4, Y: at}})
	}
	sty := labelStyle()
	sty.Color = l.color
	c.FillText(sty, vg.Point{X: c.Max.X + labelGap, Y: at}, l.text)
}
