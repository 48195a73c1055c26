package report

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// Sizes of texts.
const (
	titleSize vg.Length = 17
	panelSize vg.Length = 14.5
	textSize  vg.Length = 13
	noteSize  vg.Length = 12
)

// anchored draws texts that are aligned also where their font is missing.
type anchored struct{ text.Plain }

var texts = anchored{text.Plain{Fonts: font.DefaultCache}}

// Draw draws a text that stands at pt by its start, middle or end.
func (a anchored) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	mark := ""
	switch sty.XAlign {
	case draw.XCenter:
		mark = theme.Middle
	case draw.XRight:
		mark = theme.End
	}
	sty.XAlign = draw.XLeft
	a.Plain.Draw(c, mark+strings.ReplaceAll(txt, "\n", "\n"+mark), sty, pt)
}

// middle aligns the middle of capital letters and figures; draw.YCenter that of the line, which is
// higher up.
const middle draw.YAlignment = -0.41

// styled returns the style of texts that stand at the middle of their height.
func styled(size vg.Length, c color.Color, x draw.XAlignment) draw.TextStyle {
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	return draw.TextStyle{Font: font.From(sans, size), Color: c, XAlign: x, YAlign: middle, Handler: texts}
}

func bold(sty draw.TextStyle) draw.TextStyle {
	sty.Font.Weight = xfont.WeightBold
	return sty
}

// headings writes a title, and below it a note, at the top of c, and returns what is left of it.
func headings(c draw.Canvas, title, note string) draw.Canvas {
	at := vg.Point{X: c.Min.X, Y: c.Max.Y - titleSize/2 - 3}
	c.FillText(bold(styled(titleSize, theme.Ink, draw.XLeft)), at, title)
	at.Y -= titleSize/2 + noteSize/2 + 7
	c.FillText(styled(noteSize, theme.Faint, draw.XLeft), at, note)
	return draw.Crop(c, 0, 0, 0, -headingsHeight)
}

const headingsHeight = titleSize + noteSize + 22
