package rates

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// words are text above or below the panels.
type words struct {
	text string
	kind *wordsKind
}

// A wordsKind is how words look.
type wordsKind struct {
	size, height vg.Length // of the letters, and of a line
	weight       xfont.Weight
	color        color.Color
}

var (
	titleWords = &wordsKind{17, 22, xfont.WeightBold, theme.Ink}
	headWords  = &wordsKind{13, 20, xfont.WeightNormal, theme.Faint}
	noteWords  = &wordsKind{12, 17, xfont.WeightNormal, theme.Faint}
)

func (k *wordsKind) style() draw.TextStyle {
	sty := draw.TextStyle{Color: k.color, Font: layoutFont, Handler: textHandler()}
	sty.Font.Size, sty.Font.Weight = k.size, k.weight
	return sty
}

// widthInAnyFont returns how wide a text is at most, in any usual font.
func widthInAnyFont(sty draw.TextStyle, text string) vg.Length { return 1.2 * sty.Width(text) }

// wrapped returns the words as lines of at most this width. A % stays with its number.
func wrapped(all []words, width vg.Length) (lines []words) {
	for _, w := range all {
		line, sty := "", w.kind.style()
		for _, word := range strings.Split(strings.ReplaceAll(w.text, " %", "\u00a0%"), " ") {
			longer := strings.TrimPrefix(line+" "+word, " ")
			if line != "" && widthInAnyFont(sty, longer) > width {
				lines, longer = append(lines, words{line, w.kind}), word
			}
			line = longer
		}
		lines = append(lines, words{line, w.kind})
	}
	return lines
}

// heightOf returns the height of lines.
func heightOf(lines []words) (height vg.Length) {
	for _, w := range lines {
		height += w.kind.height
	}
	return height
}

// drawLines writes lines from the top downwards.
func drawLines(canvas draw.Canvas, lines []words, top vg.Length) {
	for _, w := range lines {
		top -= w.kind.height
		canvas.FillText(w.kind.style(), vg.Point{X: margin, Y: top}, w.text)
	}
}
