package fpr

import (
	"bytes"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth   = 12.5 * vg.Centimeter
	panelHeight  = 9.5 * vg.Centimeter
	legendWidth  = 6 * vg.Centimeter
	titleHeight  = 2 * vg.Centimeter
	noteHeight   = 1.6 * vg.Centimeter
	margin       = 0.5 * vg.Centimeter
	panelsPerRow = 2
)

// layoutFont is the font that texts are measured in. Where a viewer does not have it, one
// of cssFontFamilies has about the same widths.
var layoutFont = font.Font{Typeface: "Liberation", Variant: "Sans"}

const cssFontFamilies = "'Liberation Sans',Arial,Helvetica,sans-serif"

// seriesColors and seriesMarks tell the bits per key apart, also for colour-blind readers.
// They follow the order of --bits.
var seriesColors = []color.RGBA{
	{R: 0x00, G: 0x72, B: 0xb2, A: 0xff},
	{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
	{R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
	{R: 0xb0, G: 0x50, B: 0x90, A: 0xff},
	{R: 0x40, G: 0x40, B: 0x40, A: 0xff},
	{R: 0xc0, G: 0x90, B: 0x00, A: 0xff},
}

var gray = color.RGBA{R: 0x60, G: 0x60, B: 0x60, A: 0xff}

var seriesMarks = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{},
}

// WriteSVG draws a panel for each shape and policy. c is the Config of the measurement.
func WriteSVG(w io.Writer, c Config, points []Point) error {
	plot.DefaultFont = layoutFont
	panels := c.panels(points)
	columns := len(c.Policies)
	if columns == 1 {
		columns = min(len(panels), panelsPerRow)
	}
	rows := (len(panels) + columns - 1) / columns
	width := vg.Length(columns)*panelWidth + legendWidth
	height := vg.Length(rows)*panelHeight + titleHeight + noteHeight
	svg := vgsvg.New(width, height)
	canvas := draw.New(svg)
	fillWhite(canvas)
	if err := c.drawPanels(canvas, panels, rows, columns); err != nil {
		return err
	}
	if err := c.drawLegend(canvas, panels); err != nil {
		return err
	}
	c.drawTexts(canvas)
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:"+cssFontFamilies)))
	return err
}

func fillWhite(c draw.Canvas) {
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// drawPanels draws the panels with aligned axes.
func (c Config) drawPanels(canvas draw.Canvas, panels []panel, rows, columns int) error {
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, columns)
	}
	for i, panel := range panels {
		p, err := panel.plot(c)
		if err != nil {
			return err
		}
		plots[i/columns][i%columns] = p
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: margin, PadY: margin}
	area := draw.Crop(canvas, margin, -legendWidth, noteHeight, -titleHeight)
	for y, row := range plot.Align(plots, tiles, area) {
		for x, tile := range row {
			if plots[y][x] != nil {
				plots[y][x].Draw(tile)
			}
		}
	}
	return nil
}

// drawLegend draws the legend to the right of the panels. The first panels have one shape and
// all policies.
func (c Config) drawLegend(canvas draw.Canvas, panels []panel) error {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.TextStyle.Font.Size = 11
	l.Padding = 2 * vg.Millimeter
	l.ThumbnailWidth = 1 * vg.Centimeter
	for _, p := range panels[:len(c.Policies)] {
		if len(c.Policies) > 1 {
			l.Add(p.policy.name + ":")
		}
		for i, s := range p.series {
			line, glyphs, err := plotter.NewLinePoints(plotter.XYs{{X: 1, Y: 1}})
			if err != nil {
				return err
			}
			style(line, glyphs, i)
			l.Add(fmt.Sprintf("%d bits per key, k = %d", s[0].Bits, s[0].K), line, glyphs)
		}
	}
	l.Add("95 % interval", &plotter.Polygon{Color: translucent(gray)})
	l.Add("a run", dots{color: gray})
	l.Add("formula", &plotter.Line{LineStyle: dashed(gray)})
	l.Draw(draw.Crop(canvas, canvas.Max.X-legendWidth+margin, 0, 0, -titleHeight-margin))
	return nil
}

// drawTexts writes the title at the top, and notes at the bottom.
func (c Config) drawTexts(canvas draw.Canvas) {
	sty := draw.TextStyle{Color: color.Black, Font: layoutFont, Handler: plot.DefaultTextHandler}
	write := func(size, y vg.Length, line string) {
		sty.Font.Size = size
		canvas.FillText(sty, vg.Point{X: 2 * margin, Y: y}, line)
	}
	title := "False positives of filters as they fill"
	if len(c.Policies) == 1 {
		title = "False positives of " + policyOf(c.Policies[0]).title + " as it fills"
	}
	write(16, canvas.Max.Y-0.9*vg.Centimeter, title)
	write(11, canvas.Max.Y-1.5*vg.Centimeter, c.subtitle())
	write(10, 0.9*vg.Centimeter, "Lines are the means of the runs. Rates of 0 are not drawn.")
	write(10, 0.4*vg.Centimeter, "The lowest rate on an axis is one false positive among all lookups. Bands are cut off there.")
}

func (c Config) subtitle() string {
	s := fmt.Sprintf("Filters sized for %s keys; %d runs, each with different keys", grouped(c.Keys), c.Runs)
	if len(c.Shapes) > 0 {
		s += fmt.Sprintf(" and %s absent keys", grouped(c.Questions))
	}
	if c.Own != nil {
		added, asked := c.OwnQuestions()
		s += fmt.Sprintf("; of the own keys, a run adds ≤ %s and asks for %s others", grouped(added), grouped(asked))
	}
	return s
}
