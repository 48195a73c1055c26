package report

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/internal/theme"
)

// An end is where a line ends, and what it is.
type end struct {
	name  string
	at    plotter.XY
	style style
}

// nameEnds names the lines behind their ends, in the plot that was drawn on c.
func nameEnds(c draw.Canvas, p *plot.Plot, ends []end) {
	data := p.DataCanvas(c)
	x, y := p.Transforms(&data)
	var wanted []vg.Length
	for _, e := range ends {
		wanted = append(wanted, y(e.at.Y))
	}
	for i, at := range spread(wanted, labelStep, data.Min.Y, data.Max.Y) {
		e := ends[i]
		from := x(e.at.X) + 7
		thin := draw.LineStyle{Color: e.style.line.Color, Width: 0.75}
		c.StrokeLine2(thin, from, wanted[i], from+10, at)
		c.FillText(styled(textSize, theme.Ink, draw.XLeft), vg.Point{X: from + 14, Y: at}, e.name)
	}
}

// spread moves labels apart that want to stand at these heights, so that any two are at least step
// apart, and as near as they can be to where they wanted. They stay between low and high, and in their
// order; if there is no room for all of them, they go beyond high.
func spread(wanted []vg.Length, step, low, high vg.Length) []vg.Length {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(wanted[a], wanted[b]) })
	// Without the steps below them, labels only must not go down: where they would, all of those
	// that meet stand at their mean.
	type block struct{ sum, n vg.Length }
	var blocks []block
	for rank, i := range order {
		b := block{wanted[i] - vg.Length(rank)*step, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].sum/blocks[len(blocks)-1].n >= b.sum/b.n {
			last := blocks[len(blocks)-1]
			b.sum, b.n = b.sum+last.sum, b.n+last.n
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	placed := make([]vg.Length, len(wanted))
	most := high - vg.Length(len(wanted)-1)*step
	rank := 0
	for _, b := range blocks {
		for range int(b.n) {
			placed[order[rank]] = max(min(b.sum/b.n, most), low) + vg.Length(rank)*step
			rank++
		}
	}
	return placed
}
