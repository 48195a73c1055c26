package report

import (
	"fmt"
	"html"
	"image/color"
	"math"
	"strings"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/theme"
)

// An engine is a row of a panel.
type engine struct {
	unit, name string
	color      color.NRGBA
}

// engines lists the engines, ours first.
var engines = []engine{
	{"sievetable-ns", "sievetable", theme.Ours},
	{"sievetable-table-filter-ns", "sievetable, table filter", theme.OursToo},
	goleveldb,
	{"Pebble-ns", "Pebble", theme.Series[2]},
	{"C++LevelDB-ns", "C++ LevelDB", theme.Series[3]},
}

// goleveldb is the engine that findings compare with.
var goleveldb = engine{"goleveldb-ns", "goleveldb", theme.Series[1]}

// In pixels, the chart is as wide as a README on GitHub. Its narrow form fits a phone.
const (
	chartFile, wide    = "lookup-by-engine.svg", 880.0
	narrowFile, narrow = "lookup-by-engine-narrow.svg", 340.0
)

const (
	chartTitle = "How long a lookup takes"
	chartNote  = "Time of a lookup, as a multiple of sievetable’s: shorter is better. Thin lines are from the least to the most. " +
		"A million entries in memory, compressed with Snappy."
)

// picture returns a chart for a Markdown page.
func picture(file, narrowFile, alt string) string {
	return fmt.Sprintf("<picture>\n  <source media=\"(max-width: 600px)\" srcset=\"%s\">\n  <img alt=\"%s\" src=\"%s\">\n</picture>\n",
		narrowFile, alt, file)
}

// alt returns the title and all findings, as the alternative text of the chart.
func (r *results) alt() string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.title+": "+r.finding(k))
	}
	return chartTitle + ". " + strings.Join(all, "; ")
}

// finding compares our lookups with goleveldb.
func (r *results) finding(k kind) string {
	return twoDigits(r.ratio(k.id("snappy"), goleveldb).mid) + " × as fast as goleveldb"
}

// A drawing is the inside of an SVG file. Colors must be in style attributes, for package theme.
type drawing struct{ strings.Builder }

func (d *drawing) svg(width, height float64) ([]byte, error) {
	const head = "<svg width=\"%[1]vpt\" height=\"%[2]vpt\" viewBox=\"0 0 %[1]v %[2]v\" xmlns=\"http://www.w3.org/2000/svg\">\n"
	return theme.Apply(fmt.Appendf(nil, head+"%[3]s</svg>\n", width, height, d))
}

// text draws a line of text. anchor is empty, or theme.End if the text ends at x.
func (d *drawing) text(x, y float64, anchor, font string, c color.NRGBA, text string) {
	fmt.Fprintf(d, "<text x=\"%.1f\" y=\"%.1f\" style=\"%s;fill:%s\">%s%s</text>\n", x, y, font, hex(c), anchor, html.EscapeString(text))
}

func (d *drawing) rect(x, y, width, height float64, c color.NRGBA) {
	fmt.Fprintf(d, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" style=\"fill:%s\"/>\n", x, y, width, height, hex(c))
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Fonts of texts.
const (
	titleFont = "font-weight:bold;font-size:17px"
	panelFont = "font-weight:bold;font-size:14.5px"
	textFont  = "font-size:13px"
	noteFont  = "font-size:12px"
)

// Lengths of a panel.
const (
	namesWidth  = 152
	figureWidth = 112
	barStep     = 22
	barHeight   = 13
	panelTitle  = 44 // with the finding
	gap         = 24 // between panels
)

// chart draws a panel for each kind of lookup, side by side if there is room.
func (r *results) chart(width float64) ([]byte, error) {
	d := &drawing{}
	d.text(0, 17, "", titleFont, theme.Ink, chartTitle)
	y := 36.0
	for _, line := range wrap(chartNote, int(width/5.8)) {
		d.text(0, y, "", noteFont, theme.Faint, line)
		y += 17
	}
	columns := max(1, int((width+gap)/(narrow+gap)))
	step := (width + gap) / float64(columns)
	height := panelTitle + barStep*float64(len(engines)) + gap/2
	for i, k := range kinds {
		r.panel(d, k, float64(i%columns)*step, y+float64(i/columns)*height, step-gap)
	}
	height = y + height*float64((len(kinds)+columns-1)/columns)
	return d.svg(width, height)
}

// wrap splits the text into lines of at most the given number of letters.
func wrap(text string, letters int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line+" "+word)) > letters {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// panel draws a bar for each engine, below the title and the finding. Each panel has its own scale.
func (r *results) panel(d *drawing, k kind, x, y, width float64) {
	d.text(x, y+15, "", panelFont, theme.Ink, k.title)
	d.text(x, y+33, "", textFont, theme.Ink, r.finding(k))
	id, most := k.id("snappy"), 0.0
	for _, e := range engines {
		most = max(most, r.ratio(id, e).high)
	}
	scale := (width - namesWidth - figureWidth) / most
	left, at := x+namesWidth, y+panelTitle
	for i, e := range engines {
		times, ns := r.ratio(id, e), figures.Grouped(int(math.Round(r.took(id, e).mid)))+" ns"
		if times.mid == 0 {
			continue
		}
		if i > 0 {
			ns = twoDigits(times.mid) + " ×, " + ns
		}
		d.rect(left, at+4, max(1, times.mid*scale), barHeight, e.color)
		d.rect(left+times.low*scale, at+barHeight/2+4, (times.high-times.low)*scale, 1, theme.Ink)
		d.text(left-7, at+15, theme.End, textFont, theme.Ink, e.name)
		d.text(left+times.high*scale+5, at+15, "", textFont, theme.Ink, ns)
		at += barStep
	}
	d.rect(left-0.5, y+panelTitle, 1, at-y-panelTitle, theme.Faint)
}
