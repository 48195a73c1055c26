package report

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// engineColors are those of engines, by how their names begin, in all charts.
var engineColors = []struct {
	prefix string
	color  color.NRGBA
}{
	{rival, theme.Series[1]}, {"Pebble", theme.Series[2]}, {"C++ LevelDB", theme.Series[3]}, {"RocksDB", theme.Series[4]}, {"bbolt", theme.Ink},
}

// isOurs returns whether the column is the first one or a variant of it.
func (r *Results) isOurs(i int) bool { return strings.HasPrefix(r.Columns[i].Name, r.Columns[0].Name) }

// color returns a column's, which for an engine is the same in all charts. What is no engine is grey.
func (r *Results) color(i int) color.NRGBA {
	switch {
	case i == 0:
		return theme.Ours
	case r.isOurs(i):
		return theme.OursToo
	}
	for _, e := range engineColors {
		if strings.HasPrefix(r.Columns[i].Name, e.prefix) {
			return e.color
		}
	}
	return theme.Peers[(i-1)%len(theme.Peers)]
}

// A style tells a line from the others, also without its color.
type style struct {
	line  draw.LineStyle
	glyph draw.GlyphStyle
	band  color.Color
}

// marks are the marks and dashes of columns.
var marks = []struct {
	glyph  draw.GlyphDrawer
	dashes []vg.Length
}{
	{draw.CircleGlyph{}, nil},
	{draw.BoxGlyph{}, nil},
	{draw.PyramidGlyph{}, []vg.Length{7, 3}},
	{draw.CircleGlyph{}, []vg.Length{2, 3}},
	{draw.BoxGlyph{}, []vg.Length{7, 3, 2, 3}},
}

// styles returns the columns' styles, of which ours is the widest line.
func (r *Results) styles() []style {
	var all []style
	for i := range r.Columns {
		c, mark, width := r.color(i), marks[i%len(marks)], vg.Length(1.75)
		if r.isOurs(i) {
			width = 2.5
		}
		light := c
		light.A = 0x28
		all = append(all, style{
			draw.LineStyle{Color: c, Width: width, Dashes: mark.dashes},
			draw.GlyphStyle{Color: c, Radius: 4, Shape: mark.glyph},
			light,
		})
	}
	return all
}
