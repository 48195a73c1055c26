package rates

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// styled returns the style of text. Package theme replaces its font where a viewer does not have it.
func styled(size vg.Length, c color.Color) draw.TextStyle {
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	return draw.TextStyle{Font: font.From(sans, size), Color: c, Handler: plot.DefaultTextHandler}
}

// widthInAnyFont returns how wide a text is at most, in any usual font.
func widthInAnyFont(sty draw.TextStyle, text string) vg.Length { return 1.2 * sty.Width(text) }

// A line is text above or below the panels.
type line struct {
	text string
	draw.TextStyle
}

func (l line) height() vg.Length { return 1.4 * l.Font.Size }

// wrapped returns a text as lines of at most this width. A % stays with its number.
func wrapped(text string, sty draw.TextStyle, width vg.Length) (lines []line) {
	current := ""
	for _, word := range strings.Split(strings.ReplaceAll(text, " %", "\u00a0%"), " ") {
		longer := strings.TrimPrefix(current+" "+word, " ")
		if current != "" && widthInAnyFont(sty, longer) > width {
			lines, longer = append(lines, line{current, sty}), word
		}
		current = longer
	}
	return append(lines, line{current, sty})
}

// heightOf returns the height of lines.
func heightOf(lines []line) (height vg.Length) {
	for _, l := range lines {
		height += l.height()
	}
	return height
}

// drawLines writes lines from the top downwards.
func drawLines(canvas draw.Canvas, lines []line, top vg.Length) {
	for _, l := range lines {
		top -= l.height()
		canvas.FillText(l.TextStyle, vg.Point{X: margin, Y: top}, l.text)
	}
}
