package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
)

const multiples = "Time of a lookup, as a multiple of sievetable’s: less is better. Bands are from the least to the most. "

// byEntries draws a line for each engine over the size of the table.
func (r *Report) byEntries() *drawing {
	rows := r.Engines.find(measure.SectionURLs)
	if len(rows) == 0 {
		return nil
	}
	subject := fmt.Sprintf("Absent keys, full block cache, %s to %s URLs:", spoken(int(rows[0].X)), spoken(int(rows[len(rows)-1].X)))
	return r.Engines.drawing(lines{rows: rows, value: ratio, unit: " ×", x: "entries of the table", logX: true, state: warm},
		finding(subject, speed, rival, r.Engines.rivals(rows, warm)), multiples+"URLs in memory, compressed with Snappy.")
}

// byBits draws a line for each engine over the bits that a key has.
func (r *Report) byBits() *drawing {
	rows := r.Engines.byBits()
	if len(rows) < 2 {
		return nil
	}
	subject := fmt.Sprintf("Absent keys, no block cache, %v to %v bits of filter per key:", rows[0].X, rows[len(rows)-1].X)
	return r.Engines.drawing(lines{rows: rows, value: ratio, unit: " ×", x: "bits of filter per key", state: cold},
		finding(subject, speed, rival, r.Engines.rivals(rows, cold)),
		multiples+r.entriesNote())
}

// byBits returns the rows of lookups with filters of some bits per key, the usual ones among them.
// They have the figures of engines that were measured with all bits.
func (r *Results) byBits() []measure.Row {
	rows := slices.DeleteFunc(r.find(measure.SectionBits), func(row measure.Row) bool { return row.X == 0 })
	for _, usual := range r.find(measure.Usual + "/" + measure.GetAbsentCold) {
		usual.Cells = slices.Clone(usual.Cells)
		for i := range usual.Cells {
			if len(rows) > 0 && len(rows[0].Cells[i].Values) == 0 {
				usual.Cells[i] = measure.Cell{}
			}
		}
		rows = append(rows, usual)
	}
	slices.SortFunc(rows, func(a, b measure.Row) int { return cmp.Compare(a.X, b.X) })
	return rows
}

// byKeys draws a line for each form of a set over the number of its keys.
func (r *Report) byKeys() *drawing {
	sets := &r.Membership
	rows := sets.find(measure.AskAbsent)
	if len(rows) == 0 {
		return nil
	}
	title := "Is a key in the set? A " + sets.Columns[0].Name + " is"
	if len(sets.Columns) > 1 {
		title = finding(title, speed, "a "+sets.Columns[1].Name, ratiosOf(rows, 1))
	}
	return sets.drawing(lines{rows: rows, value: figure, unit: " ns", x: "keys of the set", logX: true, state: warm},
		title+sets.wins(rows), "Time to ask for a key that is not in the set. Bands are from the least to the most.")
}

// wins says where the map is faster than ours.
func (r *Results) wins(rows []measure.Row) string {
	for i, c := range r.Columns {
		if !strings.Contains(c.Name, "map") {
			continue
		}
		var sizes []string
		for _, row := range rows {
			if s, ok := ratio(row, i); ok && s.mid < 1/near {
				sizes = append(sizes, figures.Grouped(int(row.X)))
			}
		}
		if len(sizes) > 0 {
			return ". A " + c.Name + " is faster at " + list(sizes) + " keys"
		}
		return ". No " + c.Name + " is faster"
	}
	return ""
}

// list writes words as a list.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// lines say what a chart of lines shows.
type lines struct {
	rows    []measure.Row
	value   func(row measure.Row, i int) (span, bool)
	unit, x string
	logX    bool
	state   state
}

// A drawnLine is a line with its name.
type drawnLine struct {
	name   string
	style  style
	points []point
}

// A point is a line's at one place.
type point struct {
	x float64
	span
}

// drawing returns the chart of lines: each column's medians over what the rows differ in. It is
// nil if there are none.
func (r *Results) drawing(l lines, title, note string) *drawing {
	p := &linePlot{lines: l}
	for i, s := range r.styles() {
		var points []point
		for _, row := range l.rows {
			if v, ok := l.value(row, i); ok && l.state.has(r.Columns[i].Name) {
				points = append(points, point{row.X, v})
			}
		}
		if len(points) > 0 {
			p.drawn = append(p.drawn, drawnLine{shown(r.Columns[i].Name), s, points})
		}
	}
	if len(p.drawn) == 0 {
		return nil
	}
	return &drawing{title: title, note: note, alt: title, body: p}
}

// A linePlot is lines, with a legend above them.
type linePlot struct {
	lines
	drawn []drawnLine
}

const plotHeight vg.Length = 300

func (p *linePlot) height(width vg.Length) vg.Length { return p.legend().height(width) + plotHeight }

func (p *linePlot) draw(c draw.Canvas) error {
	axes, err := p.axes()
	if err != nil {
		return err
	}
	for _, l := range slices.Backward(p.drawn) { // the first one above the others
		band, line, points, err := l.plotters()
		if err != nil {
			return err
		}
		axes.Add(band, line, points)
	}
	axes.Draw(draw.Crop(p.legend().draw(c), slack, -slack, 2, -6))
	return nil
}

// slack is room for figures at the ends of axes, in wider fonts too.
const slack vg.Length = 22

// plotters returns the line's band from the least to the most, the line, and its marks.
func (l drawnLine) plotters() (band, line, marks plot.Plotter, err error) {
	var mid, edge plotter.XYs
	for _, p := range l.points {
		mid, edge = append(mid, plotter.XY{X: p.x, Y: p.mid}), append(edge, plotter.XY{X: p.x, Y: p.high})
	}
	for _, p := range slices.Backward(l.points) {
		edge = append(edge, plotter.XY{X: p.x, Y: p.low})
	}
	area, err := plotter.NewPolygon(edge)
	if err != nil {
		return nil, nil, nil, err
	}
	area.Color, area.LineStyle.Width = l.style.band, 0
	strokes, points, err := plotter.NewLinePoints(mid)
	if err != nil {
		return nil, nil, nil, err
	}
	strokes.LineStyle, points.GlyphStyle = l.style.line, l.style.glyph
	return area, strokes, points, nil
}
