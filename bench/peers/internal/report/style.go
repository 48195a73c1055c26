package report

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// isOurs returns whether the column is the first one or a variant of it.
func (r *Results) isOurs(i int) bool { return strings.HasPrefix(r.Columns[i].Name, r.Columns[0].Name) }

// color returns a column's: ours in color, and the rival's the most visible of greys.
func (r *Results) color(i int) color.Color {
	switch name := r.Columns[i].Name; {
	case i == 0:
		return theme.Ours
	case r.isOurs(i):
		return theme.OursToo
	case strings.HasPrefix(name, rival):
		return theme.Peers[1]
	}
	return theme.Peers[2]
}

// A style tells a line from the others, also without its color.
type style struct {
	line  draw.LineStyle
	glyph draw.GlyphStyle
}

// peers are the marks and dashes of other columns than ours.
var peers = []struct {
	glyph  draw.GlyphDrawer
	dashes []vg.Length
}{
	{draw.BoxGlyph{}, nil},
	{draw.PyramidGlyph{}, []vg.Length{7, 3}},
	{draw.CircleGlyph{}, []vg.Length{2, 3}},
	{draw.BoxGlyph{}, []vg.Length{7, 3, 2, 3}},
}

// styles returns the styles of columns. Those of ours do not count as peers.
func (r *Results) styles(columns []int) []style {
	var all []style
	n := 0
	for _, i := range columns {
		if r.isOurs(i) {
			all = append(all, styleOf(r.color(i), 2.5, draw.CircleGlyph{}, nil))
			continue
		}
		peer := peers[n%len(peers)]
		all = append(all, styleOf(theme.Peers[n%len(theme.Peers)], 1.75, peer.glyph, peer.dashes))
		n++
	}
	return all
}

func styleOf(c color.Color, width vg.Length, glyph draw.GlyphDrawer, dashes []vg.Length) style {
	return style{
		draw.LineStyle{Color: c, Width: width, Dashes: dashes},
		draw.GlyphStyle{Color: c, Radius: 4, Shape: glyph},
	}
}
