package report

import (
	"fmt"
	"strconv"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

// saved draws what lookups of absent keys cost without and with a filter: data blocks and time.
func (r *Report) saved() *drawing {
	reads := r.Engines.costs(measure.ReadsAbsent, "Data blocks read", amount, twoDigits)
	time := r.Engines.costs(measure.GetAbsentCold, "Time", length, func(ns float64) string { return whole(ns) + " ns" })
	if len(reads.bars) == 0 || len(time.bars) == 0 {
		return nil
	}
	title := fmt.Sprintf("What %d bits of filter per key save", measure.UsualBits)
	note := "Of one lookup of an absent key, no block cache. " + r.barsNote()
	return &drawing{title: title, note: note, alt: title + ". " + reads.alt() + "; " + time.alt(), body: panels{reads, time}}
}

// twoDigits writes a count that is no more than a few.
func twoDigits(n float64) string { return strconv.FormatFloat(n, 'g', 2, 64) }

// quotient returns a/b, or none if a figure is 0.
func quotient(a, b float64) []float64 {
	if a == 0 || b == 0 {
		return nil
	}
	return []float64{a / b}
}

// costs returns the panel of a work with and without filters. Its finding says what ours saves.
func (r *Results) costs(work, title string, w words, write func(float64) string) panel {
	without := r.find(measure.NoFilter + "/" + work)
	with := r.find(measure.Usual + "/" + work)
	p := panel{title: title}
	if len(without) != 1 || len(with) != 1 {
		return p
	}
	for i, c := range r.Columns {
		before, ok := figure(without[0], i)
		after, also := figure(with[0], i)
		if !ok || !also || !cold.has(c.Name) {
			continue
		}
		p.bars = append(p.bars,
			bar{c.Name + ", no filter", write(before.mid), before, r.color(i), true},
			bar{c.Name, write(after.mid), after, r.color(i), false})
		if i == 0 {
			p.finding = finding("", w, "", quotient(before.mid, after.mid))
		}
	}
	return p
}
