package report

import (
	"math"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
)

// kinds are the lookups that engines are shown at, and why some engines have none.
var kinds = []struct{ id, subject, without string }{
	{measure.GetAbsentWarm, "Absent keys:", "which does not offer this"},
	{measure.GetPresentWarm, "Present keys, from a full block cache:", "which does not offer this"},
	{measure.GetPresentCold, "Present keys, without a block cache:", "which always reads through its cache"},
}

// byEngine draws a panel for each kind of lookups, with a bar for each engine. All bars are on one
// scale.
func (r *Report) byEngine() *drawing {
	var panels []panel
	var titles []string
	height := headingsHeight - panelGap
	for _, k := range kinds {
		rows := r.Engines.find("W1-snappy/" + k.id)
		if len(rows) != 1 {
			continue
		}
		p := r.Engines.panel(rows[0], k.without)
		_, best := r.Engines.best(rows[0], rival)
		p.title = finding(k.subject, speed, best, r.Engines.ratios(rows, rival))
		panels, titles = append(panels, p), append(titles, p.title)
		height += p.height() + panelGap
	}
	if len(panels) == 0 {
		return nil
	}
	note := sentence(spoken(r.Entries)) + " entries, compressed with Snappy, in memory. Nanoseconds per lookup: fewer are better."
	return &drawing{title: strings.Join(titles, "; "), height: height, draw: func(c draw.Canvas) error {
		c = headings(c, "How long a lookup takes", note)
		for _, p := range panels {
			p.draw(c, longest(panels...))
			c = draw.Crop(c, 0, 0, 0, -p.height()-panelGap)
		}
		return nil
	}}
}

// panel returns a row's bars, and in the note which engines have none.
func (r *Results) panel(row measure.Row, without string) panel {
	var p panel
	for i, c := range row.Cells {
		if len(c.Values) > 0 {
			m := median(c.Values)
			p.bars = append(p.bars, bar{r.Columns[i].Name, whole(m) + " ns", m, r.color(i)})
			continue
		}
		reason := r.Columns[i].Missing
		if reason == "" {
			reason = without
		}
		if p.note == "" {
			p.note = "Not shown: "
		} else {
			p.note += "; "
		}
		p.note += r.Columns[i].Name + ", " + reason
	}
	return p
}

// whole writes the nearest whole number.
func whole(v float64) string { return figures.Grouped(int(math.Round(v))) }
