package rates

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/sievetable/sievetable/internal/theme"
)

// Sizes of the parts of a chart, in CSS pixels.
const (
	panelWidth  = 440
	panelHeight = 280
	leastWidth  = 2 * panelWidth // of the chart, unless Config.Width is another one
	minWidth    = 340            // that the labels beside a panel leave room in
	margin      = 10
)

// WriteSVG draws a panel for each policy and number of bits per key. c is the Config of the
// measurement.
func WriteSVG(w io.Writer, c Config, points []Point) error {
	panels, columns := c.panels(points)
	width := vg.Length(c.Width)
	if c.Width == 0 {
		width = max(leastWidth, vg.Length(columns)*panelWidth)
	}
	columns = max(1, min(columns, int(width/panelWidth)))
	rows := (len(panels) + columns - 1) / columns
	head, notes := wrapped(c.head(panels), width-2*margin), wrapped(c.notes(), width-2*margin)
	above, below := heightOf(head)+2*margin, heightOf(notes)+2*margin+frameBottom
	svg := vgsvg.New(width, vg.Length(rows)*panelHeight+above+below)
	canvas := draw.New(svg)
	if err := c.drawPanels(draw.Crop(canvas, margin, -margin, below, -above), panels, rows, columns); err != nil {
		return err
	}
	drawLines(canvas, head, canvas.Max.Y-margin/2)
	drawLines(canvas, notes, heightOf(notes)+margin)
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

// head is what stands above the panels: what was found, and how.
func (c Config) head(panels []panel) []words {
	return []words{
		{c.finding(panels), titleWords},
		{"How many of the keys that were not added a filter lets through, " + c.over() + ".", headWords},
		{c.measured(), headWords},
	}
}

// over says what the charts have from left to right.
func (c Config) over() string {
	if c.K.isNone() {
		return "as it fills up"
	}
	return "by how many bits each key sets (k)"
}

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
func (c Config) notes() []words {
	all := []words{{"A dot is a run, a line the mean of the runs, and the band has the middle 8 of 10 runs, where each of these let a key through.", noteWords}}
	if !c.K.isNone() {
		all = append(all, words{"The upright line is at the k that these filters have otherwise.", noteWords})
	}
	var labels []string
	for _, s := range c.shapes() {
		labels = append(labels, s.label+": "+s.about+".")
	}
	return append(all, words{strings.Join(labels, " "), noteWords})
}
