package fpr

import (
	"bytes"
	"fmt"
	"io"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/sievetable/sievetable/internal/theme"
)

// Sizes of the parts of a chart, in CSS pixels.
const (
	panelWidth  = 440
	panelHeight = 280
	leastWidth  = 2 * panelWidth // of the chart, for its title
	margin      = 10
	titleHeight = 80
	lineHeight  = 17 // of notes
)

// WriteSVG draws a panel for each policy and number of bits per key. c is the Config of the
// measurement.
func WriteSVG(w io.Writer, c Config, points []Point) error {
	panels, columns := c.panels(points)
	rows := (len(panels) + columns - 1) / columns
	notes := c.notes()
	width := max(leastWidth, vg.Length(columns)*panelWidth)
	below := vg.Length(len(notes))*lineHeight + 2*margin + frameBottom
	svg := vgsvg.New(width, vg.Length(rows)*panelHeight+titleHeight+below)
	canvas := draw.New(svg)
	if err := c.drawPanels(draw.Crop(canvas, margin, -margin, below, -titleHeight), panels, rows, columns); err != nil {
		return err
	}
	c.drawTexts(canvas, panels, notes)
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		return err
	}
	themed, err := theme.Apply(out.Bytes())
	if err != nil {
		return err
	}
	_, err = w.Write(themed)
	return err
}

// drawPanels draws the panels with aligned axes.
func (c Config) drawPanels(canvas draw.Canvas, panels []panel, rows, columns int) error {
	filters, areas, ticks := make([]measuredFilter, len(panels)), make([]area, len(panels)), vg.Length(0)
	for i, panel := range panels {
		var err error
		if filters[i], err = panel.policy.empty(c.Keys, panel.bits, 0); err != nil {
			return err
		}
		areas[i] = panel.area(c, filters[i])
		ticks = max(ticks, areas[i].ticksWidth())
	}
	labels := labelsWidth(panels)
	tiles := draw.Tiles{
		Rows: rows, Cols: columns, PadTop: frameTop, PadLeft: ticks, PadRight: labels,
		PadX: labels + 2*margin + ticks, PadY: margin + frameTop + frameBottom,
	}
	for i, panel := range panels {
		areas[i].Canvas = tiles.At(canvas, i%columns, i/columns)
		panel.draw(areas[i], c, filters[i])
	}
	return nil
}

// drawTexts writes what was found at the top, and notes at the bottom.
func (c Config) drawTexts(canvas draw.Canvas, panels []panel, notes []string) {
	sty := draw.TextStyle{Color: theme.Ink, Font: layoutFont, Handler: textHandler()}
	write := func(size, y vg.Length, line string) {
		sty.Font.Size = size
		if width := widthInAnyFont(sty, line); width > canvas.Max.X-2*margin {
			sty.Font.Size *= (canvas.Max.X - 2*margin) / width
		}
		canvas.FillText(sty, vg.Point{X: margin, Y: y}, line)
	}
	sty.Font.Weight = xfont.WeightBold
	write(17, canvas.Max.Y-26, c.finding(panels))
	sty.Color, sty.Font.Weight = theme.Faint, xfont.WeightNormal
	write(13, canvas.Max.Y-48, "How many of the keys that were not added a filter lets through, "+c.over()+".")
	write(13, canvas.Max.Y-66, c.measured())
	for i, line := range notes {
		write(12, vg.Length(len(notes)-1-i)*lineHeight+margin, line)
	}
}

// over says what the charts have from left to right.
func (c Config) over() string {
	if c.K.isNone() {
		return "as it fills up"
	}
	return "by how many bits each key sets (k)"
}

// widthInAnyFont returns how wide a text is at most, in any usual font.
func widthInAnyFont(sty draw.TextStyle, text string) vg.Length { return 1.2 * sty.Width(text) }

// measured says what was measured.
func (c Config) measured() string {
	filters := "Filters sized for"
	if !c.K.isNone() {
		filters = "Full filters of"
	}
	s := fmt.Sprintf(filters+" %s keys; %d runs, each with different keys", grouped(c.Keys), c.Runs)
	if len(c.Shapes) > 0 {
		s += fmt.Sprintf(" and %s absent keys", grouped(c.Questions))
	}
	if c.Own != nil {
		added, asked := c.OwnQuestions()
		s += fmt.Sprintf("; of your keys, each run adds at most %s and asks for %s others", grouped(added), grouped(asked))
	}
	return s + "."
}

// notes explain the marks, and what the labels stand for.
func (c Config) notes() []string {
	lines := []string{"A dot is a run, a line the mean of the runs, and the band has the middle 8 of 10 runs, where each of these let a key through."}
	if !c.K.isNone() {
		lines = append(lines, "The upright line is at the k that these filters have otherwise.")
	}
	line := ""
	for i, s := range c.shapes() {
		part := s.label + ": " + s.about
		if i > 0 && len(line)+len(part) > maxNote {
			lines, line = append(lines, line+"."), ""
		}
		if line != "" {
			line += ". "
		}
		line += part
	}
	return append(lines, line+".")
}

// maxNote is about how many characters fit into a line of notes.
const maxNote = 125
