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

// headings are a title and a note at the top of a chart, on as many lines as they take.
type headings struct{ title, note string }

const (
	titleLine   = titleSize + 5
	noteLine    = noteSize + 5
	belowTitles = 12
)

func titleStyle() draw.TextStyle { return bold(styled(titleSize, theme.Ink, draw.XLeft)) }
func noteStyle() draw.TextStyle  { return styled(noteSize, theme.Faint, draw.XLeft) }

func (h headings) height(width vg.Length) vg.Length {
	titles, notes := wrap(titleStyle(), h.title, width), wrap(noteStyle(), h.note, width)
	return vg.Length(len(titles))*titleLine + vg.Length(len(notes))*noteLine + belowTitles
}

// draw writes them, and returns what is left of c.
func (h headings) draw(c draw.Canvas) draw.Canvas {
	left := draw.Crop(c, 0, 0, 0, -h.height(c.Size().X))
	c = write(c, titleStyle(), titleLine, h.title)
	write(c, noteStyle(), noteLine, h.note)
	return left
}

// write writes a text in lines of that height at the top of c, and returns what is left of c.
func write(c draw.Canvas, sty draw.TextStyle, line vg.Length, txt string) draw.Canvas {
	for _, words := range wrap(sty, txt, c.Size().X) {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Max.Y - line/2}, words)
		c = draw.Crop(c, 0, 0, 0, -line)
	}
	return c
}

// wider is how much wider than gonum's a reader's font may be.
const wider = 1.06

// wrap returns the text in lines that are no wider than that, if no word is.
func wrap(sty draw.TextStyle, txt string, width vg.Length) (lines []string) {
	line := ""
	for _, word := range strings.Fields(txt) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && wider*sty.Width(longer) > width {
			lines, longer = append(lines, line), word
		}
		line = longer
	}
	return append(lines, line)
}
