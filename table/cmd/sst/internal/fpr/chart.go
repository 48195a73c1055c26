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

var seriesMarks = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{},
}

// WriteSVG draws a panel for each shape. c is the Config of the measurement.
func WriteSVG(w io.Writer, c Config, points []Point) error {
	plot.DefaultFont = layoutFont
	columns := min(len(c.Shapes), panelsPerRow)
	rows := (len(c.Shapes) + columns - 1) / columns
	width := vg.Length(columns)*panelWidth + legendWidth
	height := vg.Length(rows)*panelHeight + titleHeight + noteHeight
	svg := vgsvg.New(width, height)
	canvas := draw.New(svg)
	fillWhite(canvas)
	if err := c.drawPanels(canvas, points, rows, columns); err != nil {
		return err
	}
	if err := c.drawLegend(canvas, points); err != nil {
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
func (c Config) drawPanels(canvas draw.Canvas, points []Point, rows, columns int) error {
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, columns)
	}
	for i, name := range c.Shapes {
		p, err := c.panel(keyShapes[shapeIndex(name)].title, pointsOfShape(points, name))
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

// pointsOfShape returns the points of one shape.
func pointsOfShape(points []Point, shape string) []Point {
	var some []Point
	for _, p := range points {
		if p.Shape == shape {
			some = append(some, p)
		}
	}
	return some
}

// drawLegend draws the legend to the right of the panels.
func (c Config) drawLegend(canvas draw.Canvas, points []Point) error {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.TextStyle.Font.Size = 11
	l.Padding = 2 * vg.Millimeter
	l.ThumbnailWidth = 1 * vg.Centimeter
	for i, s := range splitByBits(points)[:len(c.Bits)] {
		line, glyphs, err := plotter.NewLinePoints(plotter.XYs{{X: 1, Y: 1}})
		if err != nil {
			return err
		}
		style(line, glyphs, i)
		l.Add(fmt.Sprintf("%d bits per key, k = %d", s[0].Bits, s[0].K), line, glyphs)
	}
	l.Add("± 1 standard deviation", &plotter.Polygon{Color: translucent(color.RGBA{R: 0x60, G: 0x60, B: 0x60})})
	l.Add("formula, 32-bit hash", &plotter.Line{LineStyle: dashed(color.Gray{Y: 0x60})})
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
	write(16, canvas.Max.Y-0.9*vg.Centimeter, "False positives of LevelDB’s Bloom filter as it fills")
	write(11, canvas.Max.Y-1.5*vg.Centimeter, fmt.Sprintf("Filters sized for %s keys; %d runs, each with different keys and %s absent keys",
		grouped(c.Keys), c.Runs, grouped(c.Questions)))
	write(10, 0.9*vg.Centimeter, fmt.Sprintf("The lowest rate that %s lookups can measure is one false positive.", grouped(c.Questions*c.Runs)))
	write(10, 0.4*vg.Centimeter, "Rates of 0 are not drawn. Bands are cut off at the bottom.")
}
