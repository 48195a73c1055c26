package report

import (
	"math"
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
)

// A kind is lookups that engines are shown at, in one state.
type kind struct {
	id, keys string
	state    state
}

var kinds = []kind{
	{measure.GetAbsentWarm, "Absent keys", warm},
	{measure.GetAbsentCold, "Absent keys", cold},
	{measure.GetPresentWarm, "Present keys", warm},
	{measure.GetPresentCold, "Present keys", cold},
}

// byEngine draws a panel for each kind of lookups, with a bar for each engine.
func (r *Report) byEngine() *drawing {
	var all panels
	var titles []string
	for _, k := range kinds {
		if p := r.Engines.panel(k); len(p.bars) > 0 {
			all, titles = append(all, p), append(titles, p.alt())
		}
	}
	if len(all) == 0 {
		return nil
	}
	note := "Time of a lookup, as a multiple of sievetable’s: shorter is better. " + r.barsNote()
	const title = "How long a lookup takes"
	return &drawing{title: title, note: note, alt: title + ". " + strings.Join(titles, "; "), body: all}
}

// panel returns the bars of a kind of lookups, of the engines that are in its state.
func (r *Results) panel(k kind) panel {
	p := panel{title: k.keys + ", " + k.state.name}
	rows := r.find(measure.Usual + "/" + k.id)
	if len(rows) != 1 {
		return p
	}
	p.finding = finding("", speed, rival, r.rivals(rows, k.state))
	for i, c := range r.Columns {
		times, ok := ratio(rows[0], i)
		if !ok || !k.state.has(c.Name) {
			continue
		}
		took, _ := figure(rows[0], i)
		b := bar{shown(c.Name), whole(took.mid) + " ns", times, r.color(i), filterless(c.Name)}
		if i > 0 {
			b.figure = timesOf(times.mid) + " ×, " + b.figure
		}
		p.bars = append(p.bars, b)
	}
	return p
}

// timesOf writes a ratio with two digits.
func timesOf(ratio float64) string {
	if ratio < 0.995 {
		return strings.TrimRight(figures.Digits(math.Round(100*ratio)/100), "0")
	}
	return times(ratio)
}

// whole writes the nearest whole number.
func whole(v float64) string { return figures.Grouped(int(math.Round(v))) }
