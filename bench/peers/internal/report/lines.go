package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

// byEntries draws a line for each engine over the size of the table.
func (r *Report) byEntries() *drawing {
	rows := r.Engines.find(measure.SectionURLs)
	if len(rows) == 0 {
		return nil
	}
	subject := fmt.Sprintf("Absent keys among %s to %s URLs:", spoken(int(rows[0].X)), spoken(int(rows[len(rows)-1].X)))
	return r.Engines.lines(rows, lines{
		title: finding(subject, speed, rival, r.Engines.ratios(rows, rival)),
		note:  "Time per lookup. URLs, compressed with Snappy, in memory and in full block caches. Both axes are logarithmic.",
		x:     "entries of the table",
		logX:  true, logY: true,
	})
}

// byBits draws a line for each engine over the bits that a key has.
func (r *Report) byBits() *drawing {
	rows := r.Engines.find(measure.SectionBits)
	if len(rows) == 0 {
		return nil
	}
	subject := fmt.Sprintf("Absent keys with %v to %v bits of filter per key:", rows[0].X, rows[len(rows)-1].X)
	return r.Engines.lines(rows, lines{
		title: finding(subject, speed, rival, r.Engines.ratios(rows, rival)),
		note:  "Time per lookup. " + sentence(spoken(r.Entries)) + " entries, compressed with Snappy, in memory and without a block cache.",
		x:     "bits of filter per key",
	})
}

// byKeys draws a line for each form of a set over the number of its keys.
func (r *Report) byKeys() *drawing {
	rows := r.Membership.find(measure.AskAbsent)
	if len(rows) == 0 {
		return nil
	}
	peer := r.Membership.Columns[min(1, len(r.Membership.Columns)-1)].Name
	return r.Membership.lines(rows, lines{
		title: finding("Is a key in the set? A "+r.Membership.Columns[0].Name+" is", speed, "a "+peer, r.Membership.ratios(rows, peer)),
		note:  "Time to ask for a key that is not in the set. Both axes are logarithmic.",
		x:     "keys of the set",
		logX:  true, logY: true,
	})
}

// lines say what a chart of lines shows.
type lines struct {
	title, note, x string
	logX, logY     bool
}

const (
	linesHeight vg.Length = 380
	labelsWidth vg.Length = 190
	labelStep   vg.Length = 17
	slack       vg.Length = 14 // for the figures at the left in wider fonts
)

// lines draws each column's medians over what the rows differ in. Lines are named at their ends.
func (r *Results) lines(rows []measure.Row, l lines) *drawing {
	used := r.used(rows, func(c measure.Cell) bool { return len(c.Values) > 0 })
	if len(used) == 0 {
		return nil
	}
	return &drawing{title: l.title, height: linesHeight, draw: func(c draw.Canvas) error {
		p, err := l.axes(rows)
		if err != nil {
			return err
		}
		var ends []end
		var drawn []plot.Plotter // the first one last, above the others
		for n, s := range r.styles(used) {
			xys := medians(rows, used[n])
			line, points, err := plotter.NewLinePoints(xys)
			if err != nil {
				return err
			}
			line.LineStyle, points.GlyphStyle = s.line, s.glyph
			drawn = append([]plot.Plotter{line, points}, drawn...)
			ends = append(ends, end{r.Columns[used[n]].Name, xys[len(xys)-1], s})
		}
		p.Add(drawn...)
		c = draw.Crop(headings(c, l.title, l.note), slack, -labelsWidth, 2, 0)
		p.Draw(c)
		nameEnds(c, p, ends)
		return nil
	}}
}

// medians returns column i's points.
func medians(rows []measure.Row, i int) (xys plotter.XYs) {
	for _, row := range rows {
		if values := row.Cells[i].Values; len(values) > 0 {
			xys = append(xys, plotter.XY{X: row.X, Y: median(values)})
		}
	}
	return xys
}
