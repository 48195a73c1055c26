package rates

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of labels.
const (
	labelSize   = 12
	labelHeight = 15
	labelGap    = 14 // between a panel and its labels
	labelMark   = 20 // the piece of line before a label, with the gap behind it
)

// A label stands right of a panel, with a piece of the line that it names.
type label struct {
	text string
	line draw.LineStyle
}

// labels returns the labels of a panel, in the order of all panels.
func (panel panel) labels(formula []place) []label {
	var all []label
	for _, s := range panel.series {
		l := label{s.label, s.line()}
		if s.points[len(s.points)-1].Mean == 0 {
			l.text += ": 0"
		}
		all = append(all, l)
	}
	if len(formula) > 0 {
		all = append(all, label{"formula", dashed()})
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
	return labelGap + labelMark + max(width, widthInAnyFont(sty, "formula"))
}

func labelStyle() draw.TextStyle {
	sty := draw.TextStyle{Font: layoutFont, Handler: textHandler(), YAlign: draw.YCenter}
	sty.Font.Size = labelSize
	return sty
}

// drawLabels draws the labels below each other, from the top of the panel.
func (a area) drawLabels(labels []label) {
	left, y := a.Max.X+labelGap, a.Max.Y-labelHeight/2
	for _, l := range labels {
		a.StrokeLine2(l.line, left, y, left+labelMark-6, y)
		sty := labelStyle()
		sty.Color = l.line.Color
		a.FillText(sty, vg.Point{X: left + labelMark, Y: y}, l.text)
		y -= labelHeight
	}
}
