package report

import (
	"bytes"
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
	"github.com/sievetable/sievetable/internal/figures"
)

// A chart is a file beside the page.
type chart struct {
	Title, File string
}

const (
	chartWidth  = 26 * vg.Centimeter
	chartHeight = 12 * vg.Centimeter
	legendWidth = 5.5 * vg.Centimeter
)

// shades of the columns, in their order: in print without colour they differ by
// how dark they are.
var shades = []color.Color{
	color.RGBA{R: 0x10, G: 0x20, B: 0x50, A: 0xff},
	color.RGBA{R: 0x60, G: 0x90, B: 0xe0, A: 0xff},
	color.RGBA{R: 0x90, G: 0x30, B: 0x20, A: 0xff},
	color.RGBA{R: 0xf0, G: 0xa0, B: 0x70, A: 0xff},
	color.RGBA{R: 0x30, G: 0x98, B: 0x80, A: 0xff},
	color.RGBA{R: 0xc8, G: 0xf0, B: 0xe0, A: 0xff},
	color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff},
}

// draw draws the charts whose figures are there.
func (r *Report) draw(dir string) ([]chart, error) {
	var drawn []chart
	for _, c := range []struct {
		file, title string
		plot        func(p *plot.Plot) (plot.Legend, bool, error)
	}{
		{"lookup-by-engine.svg", "Lookups by engine, W1, Snappy", r.Engines.byEngine},
		{"lookup-by-entries.svg", "Lookups of absent keys by entries, W3, Snappy, warm", r.Engines.byEntries},
		{"lookup-by-bits.svg", "Lookups of absent keys by bits per key, W1, Snappy, cold", r.Engines.byBits},
		{"membership.svg", measure.SectionMembership, r.Membership.byKeys},
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

// sans is what texts are measured in. Where a viewer does not have it, one of the
// families has the same widths or nearly so.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

const families = "'Liberation Sans',Arial,Helvetica,sans-serif"

func newPlot(title string) *plot.Plot {
	plot.DefaultFont = sans
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = 14
	p.Title.Padding = 4 * vg.Millimeter
	p.BackgroundColor = color.White
	p.Y.Label.Text = "time per lookup, ns"
	p.Y.Min = 0
	p.Y.Tick.Marker = plot.TickerFunc(whole)
	p.Add(horizontalGrid())
	return p
}

// whole marks the values that plot would, without decimals.
func whole(from, to float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(from, to)
	for i, t := range ticks {
		if t.Label != "" {
			ticks[i].Label = figures.Grouped(int(t.Value))
		}
	}
	return ticks
}

func horizontalGrid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Width = 0
	g.Horizontal.Color = color.Gray{Y: 0xcc}
	return g
}

func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.Top = true
	l.Left = true
	l.TextStyle.Font.Size = 10
	l.Padding = 1.5 * vg.Millimeter
	l.ThumbnailWidth = 1 * vg.Centimeter
	return l
}

// render draws the plot, and its legend at the right, where it hides nothing.
func render(c draw.Canvas, p *plot.Plot, legend plot.Legend) {
	c.FillPolygon(color.White, corners(c))
	p.Draw(draw.Crop(c, 3*vg.Millimeter, -legendWidth, 3*vg.Millimeter, -3*vg.Millimeter))
	legend.Draw(draw.Crop(c, chartWidth-legendWidth+4*vg.Millimeter, 0, 0, -15*vg.Millimeter))
}

// save draws the chart into the file.
func save(file string, p *plot.Plot, legend plot.Legend) error {
	svg := vgsvg.New(chartWidth, chartHeight)
	render(draw.New(svg), p, legend)
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	named := bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:"+families))
	return os.WriteFile(file, named, 0o666)
}

func corners(c draw.Canvas) []vg.Point {
	return []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}}
}

// find returns the rows of a section or with an ID.
func (r *Results) find(sectionOrID string) []measure.Row {
	var rows []measure.Row
	for _, row := range r.Rows {
		if row.Section == sectionOrID || strings.HasSuffix(row.ID, sectionOrID) {
			rows = append(rows, row)
		}
	}
	return rows
}
