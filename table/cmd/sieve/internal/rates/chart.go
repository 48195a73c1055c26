package rates

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/theme"
)

// Sizes of the parts of a chart, in CSS pixels.
const (
	panelWidth  = 440
	panelHeight = 280
	minWidth    = 340 // enough for a panel with its legend
	margin      = 10
	titleHeight = 28 // of a panel's title
	ratesWidth  = 70 // approximate width of the axis of rates, with margins
)

// WriteSVG draws a panel for each policy and number of bits per key. c is the Config of the
// measurement.
func WriteSVG(w io.Writer, c Config, points []Point) error {
	panels := c.panels(points)
	columns := len(c.Policies)
	if columns == 1 {
		columns = min(2, len(panels))
	}
	width := vg.Length(c.Width)
	if c.Width == 0 {
		width = panelWidth * vg.Length(max(2, columns))
	}
	columns = max(1, min(columns, int(width/panelWidth)))
	plots, err := c.plots(panels, columns, width)
	if err != nil {
		return err
	}
	head, notes := c.head(panels, width-2*margin), c.notes(width-2*margin)
	above, below := heightOf(head)+2*margin, heightOf(notes)+2*margin
	svg := vgsvg.New(width, vg.Length(len(plots))*panelHeight+above+below)
	canvas := draw.New(svg)
	tiles := draw.Tiles{Rows: len(plots), Cols: columns, PadTop: titleHeight, PadX: 2 * margin, PadY: margin + titleHeight}
	for row, places := range plot.Align(plots, tiles, draw.Crop(canvas, margin, -margin, below, -above)) {
		for column, place := range places {
			if p := plots[row][column]; p != nil {
				p.Draw(place)
			}
		}
	}
	drawLines(canvas, head, canvas.Max.Y-margin/2)
	drawLines(canvas, notes, heightOf(notes)+margin)
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		return err
	}
	themed, err := theme.Apply(out.Bytes()) // fits light and dark pages
	if err == nil {
		_, err = w.Write(themed)
	}
	return err
}

// plots returns the plots of the panels row by row. The last row may be padded with nils.
func (c Config) plots(panels []panel, columns int, width vg.Length) ([][]*plot.Plot, error) {
	legend := legendWidth(panels)
	var all []*plot.Plot
	for _, panel := range panels {
		p, err := panel.plot(c, width/vg.Length(columns)-legend-ratesWidth, legend)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	for len(all)%columns != 0 {
		all = append(all, nil)
	}
	return slices.Collect(slices.Chunk(all, columns)), nil
}

// head returns the text above the panels: the findings, and how they were measured.
func (c Config) head(panels []panel, width vg.Length) []line {
	title, faint := styled(17, theme.Ink), styled(13, theme.Faint)
	title.Font.Weight = xfont.WeightBold
	filters, axes := "Filters sized for", "Share of absent keys that a filter lets through as it fills up."
	if !c.K.isNone() {
		filters, axes = "Full filters of", "Share of absent keys that a filter lets through, by the number of bits that each key sets (k)."
	}
	measured := fmt.Sprintf("%s %s keys; %d runs, each with different keys", filters, figures.Grouped(c.Keys), c.Runs)
	if len(c.Shapes) > 0 {
		measured += fmt.Sprintf(" and %s absent keys", figures.Grouped(c.Lookups))
	}
	if c.Own != nil {
		measured += "; of your keys, " + c.OwnLookups()
	}
	return slices.Concat(
		wrapped(c.finding(panels), title, width),
		wrapped(axes, faint, width),
		wrapped(measured+".", faint, width))
}

// notes returns the text below the panels, which explains the marks and the labels.
func (c Config) notes(width vg.Length) []line {
	texts := []string{"Dots are runs, lines are their means, and bands are the middle 80 % of the runs, where each of these had a false positive."}
	if !c.K.isNone() {
		texts = append(texts, "The vertical line marks the usual k of these filters.")
	}
	var labels []string
	for _, s := range c.shapes() {
		labels = append(labels, s.label+": "+s.about+".")
	}
	var lines []line
	for _, text := range append(texts, strings.Join(labels, " ")) {
		lines = append(lines, wrapped(text, styled(12, theme.Faint), width)...)
	}
	return lines
}

// styled returns the style of text. If a viewer lacks its font, package theme provides another.
func styled(size vg.Length, c color.Color) draw.TextStyle {
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	return draw.TextStyle{Font: font.From(sans, size), Color: c, Handler: plot.DefaultTextHandler}
}

// widthInAnyFont returns the maximum width of a text in any usual font.
func widthInAnyFont(sty draw.TextStyle, text string) vg.Length { return 1.2 * sty.Width(text) }

// A line is text above or below the panels.
type line struct {
	text string
	draw.TextStyle
}

func (l line) height() vg.Length { return 1.4 * l.Font.Size }

// wrapped breaks a text into lines of at most this width. A % stays with its number.
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

// drawLines draws lines from top downwards.
func drawLines(canvas draw.Canvas, lines []line, top vg.Length) {
	for _, l := range lines {
		top -= l.height()
		canvas.FillText(l.TextStyle, vg.Point{X: margin, Y: top}, l.text)
	}
}
