package report

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

// A chart is a file beside the page.
type chart struct {
	Title, File string
}

const (
	chartWidth  = 24 * vg.Centimeter
	chartHeight = 12 * vg.Centimeter
	legendWidth = 5 * vg.Centimeter
)

// shades of the columns, in their order: they differ in print without colour too.
var shades = []color.Color{
	color.RGBA{R: 0x10, G: 0x20, B: 0x50, A: 0xff},
	color.RGBA{R: 0xc0, G: 0x50, B: 0x30, A: 0xff},
	color.RGBA{R: 0xf2, G: 0xb0, B: 0x90, A: 0xff},
	color.RGBA{R: 0x30, G: 0x90, B: 0x70, A: 0xff},
	color.RGBA{R: 0xb5, G: 0xe0, B: 0xd0, A: 0xff},
	color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff},
}

// draw draws the charts whose figures are there.
func (r *Report) draw(dir string) ([]chart, error) {
	var drawn []chart
	for _, c := range []struct {
		file, title string
		plot        func(p *plot.Plot) (plot.Legend, bool, error)
	}{
		{"lookup-by-engine.svg", "Lookups by engine, W1, Snappy", r.byEngine},
		{"lookup-by-entries.svg", "Lookups of absent keys by entries, W3, Snappy, warm", r.byEntries},
		{"lookup-by-bits.svg", "Lookups of absent keys by bits per key, W1, Snappy, cold", r.byBits},
	} {
		p := newPlot(c.title)
		legend, ok, err := c.plot(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.file, err)
		}
		if !ok {
			continue
		}
		if err := save(filepath.Join(dir, c.file), p, legend); err != nil {
			return nil, err
		}
		drawn = append(drawn, chart{c.title, c.file})
	}
	return drawn, nil
}

// sans is in every viewer.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

func newPlot(title string) *plot.Plot {
	plot.DefaultFont = sans
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = 14
	p.Title.Padding = 4 * vg.Millimeter
	p.BackgroundColor = color.White
	p.Y.Label.Text = "time per lookup, ns"
	p.Y.Min = 0
	p.Add(horizontalGrid())
	return p
}

func horizontalGrid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Width = 0
	g.Horizontal.Color = color.Gray{Y: 0xdd}
	return g
}

func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.Top = true
	l.Left = true
	l.Padding = 1.5 * vg.Millimeter
	l.ThumbnailWidth = 1 * vg.Centimeter
	return l
}

// save draws the plot with its legend at the right of it, where it hides nothing.
func save(file string, p *plot.Plot, legend plot.Legend) error {
	svg := vgsvg.New(chartWidth, chartHeight)
	whole := draw.New(svg)
	whole.FillPolygon(color.White, corners(whole))
	p.Draw(draw.Crop(whole, 3*vg.Millimeter, -legendWidth, 3*vg.Millimeter, -3*vg.Millimeter))
	legend.Draw(draw.Crop(whole, chartWidth-legendWidth+4*vg.Millimeter, 0, 0, -15*vg.Millimeter))
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := svg.WriteTo(f); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return f.Close()
}

func corners(c draw.Canvas) []vg.Point {
	return []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}}
}

// find returns the rows of a section or with an ID.
func (r *Report) find(sectionOrID string) []measure.Row {
	var rows []measure.Row
	for _, row := range r.Rows {
		if row.Section == sectionOrID || strings.HasSuffix(row.ID, sectionOrID) {
			rows = append(rows, row)
		}
	}
	return rows
}
