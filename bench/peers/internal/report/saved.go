package report

import (
	"fmt"
	"image/color"
	"math"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/theme"
)

// The picture in README.md, of lookups of an absent key with and without a filter.
const (
	savedFile, savedWide = "saved.svg", 780.0
	narrowSavedFile      = "saved-narrow.svg"
)

const savedTitle = "A lookup of an absent key"

// noFilter is our lookup in a table without a filter.
var noFilter = engine{"sievetable-no-filter-ns", "sievetable, no filter", theme.Peer}

// saved returns the id of the lookups in the picture.
func saved() string { return kinds[1].id("snappy") }

// A bar is a figure with its name.
type bar struct {
	name, figure string
	length       float64
	color        color.NRGBA
}

// time returns the bar of an engine's time for a lookup.
func (r *results) time(name string, e engine, c color.NRGBA) bar {
	took := r.took(saved(), e).mid
	return bar{name, figures.Grouped(int(math.Round(took))) + " ns", took, c}
}

// savedAlt returns the alternative text of the picture.
func (r *results) savedAlt() string {
	ns := func(e engine) string { return r.time("", e, theme.Ink).figure }
	return fmt.Sprintf("%s. The filter rules out %s of the keys, and nothing is read. Data blocks read per lookup: 1 without a filter, %.2g with one. "+
		"Time per lookup, uncached: %s without a filter, %s with one; goleveldb with a filter %s",
		savedTitle, r.ruledOut(), r.reads(), ns(noFilter), ns(engines[0]), ns(goleveldb))
}

// ruledOut returns the percentage of absent keys that the filter rules out.
func (r *results) ruledOut() string { return fmt.Sprintf("%.1f %%", 100*(1-r.reads())) }

// savedChart draws the path of a lookup, with the bars beside or below it.
func (r *results) savedChart(width float64) ([]byte, error) {
	d := &drawing{}
	d.text(0, 17, "", titleFont, theme.Ink, savedTitle)
	x, y := width-narrow, 2.0
	if r.path(d, 34); x == 0 {
		y = 160 // below the path
	}
	y = d.bars(x, y, "Data blocks read", []bar{
		{"without a filter", "1", 1, theme.Peer},
		{"with a filter", fmt.Sprintf("%.2g", r.reads()), r.reads(), theme.Ours},
	})
	y = d.bars(x, y+gap/2, "Time, no block cache", []bar{
		r.time("without a filter", noFilter, theme.Peer),
		r.time("with a filter", engines[0], theme.Ours),
		r.time("goleveldb, filtered", goleveldb, goleveldb.color),
	})
	return d.svg(width, y+4)
}

// path draws the path of a key through the filter.
func (r *results) path(d *drawing, y float64) {
	const key, filter, filterWidth, high = 52.0, 94.0, 156.0, 36.0
	d.frame(1, y, key, high, theme.Faint)
	d.text(1+key/2, y+22, theme.Middle, textFont, theme.Ink, "key")
	d.arrow(1+key, y+high/2, filter-2, y+high/2)
	d.frame(filter, y, filterWidth, high, theme.Ours)
	d.text(filter+filterWidth/2, y+16, theme.Middle, "font-weight:bold;"+textFont, theme.Ink, "filter")
	d.text(filter+filterWidth/2, y+30, theme.Middle, noteFont, theme.Faint, "10 bits per key, in memory")
	for i, way := range [][2]string{
		{r.ruledOut(), "absent: nothing is read"},
		{fmt.Sprintf("%.1f %%", 100*r.reads()), "maybe: one block is read"},
	} {
		at, turn := y+high+28+34*float64(i), filter+24-14*float64(i)
		d.line(turn, y+high, turn, at)
		d.arrow(turn, at, filter+38, at)
		d.text(filter+44, at+5, "", panelFont, theme.Ink, way[0])
		d.text(filter+98, at+5, "", textFont, theme.Ink, way[1])
	}
}

// bars draws bars below a title, and returns the y where they end.
func (d *drawing) bars(x, y float64, title string, all []bar) float64 {
	const names, figure = 124, 62
	d.text(x, y+15, "", panelFont, theme.Ink, title)
	most := 0.0
	for _, b := range all {
		most = max(most, b.length)
	}
	y += 24
	d.rect(x+names-0.5, y, 1, barStep*float64(len(all)), theme.Faint)
	for _, b := range all {
		long := max(1, b.length/most*(narrow-names-figure))
		d.rect(x+names, y+4, long, barHeight, b.color)
		d.text(x+names-7, y+15, theme.End, textFont, theme.Ink, b.name)
		d.text(x+names+long+5, y+15, "", textFont, theme.Ink, b.figure)
		y += barStep
	}
	return y
}

func (d *drawing) frame(x, y, width, height float64, c color.NRGBA) {
	fmt.Fprintf(d, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\" style=\"fill:none;stroke-width:1.5;stroke:%s\"/>\n",
		x, y, width, height, hex(c))
}

func (d *drawing) line(x, y, toX, toY float64) {
	fmt.Fprintf(d, "<path d=\"M%.1f %.1fL%.1f %.1f\" style=\"fill:none;stroke-width:1.5;stroke:%s\"/>\n", x, y, toX, toY, hex(theme.Faint))
}

// arrow draws a line with an arrowhead to the right.
func (d *drawing) arrow(x, y, toX, toY float64) {
	d.line(x, y, toX, toY)
	fmt.Fprintf(d, "<path d=\"M%.1f %.1fl-7 -4v8z\" style=\"fill:%s\"/>\n", toX, toY, hex(theme.Faint))
}
