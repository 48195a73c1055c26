package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/theme"
)

// lookups are so many that a chart shows what they cost together.
const lookups = 1000

// saved draws what lookups of absent keys cost without and with a filter: data blocks and time.
func (r *Report) saved() *drawing {
	reads := r.Engines.costs(measure.ReadsAbsent, "Data blocks read:", amount, count)
	time := r.Engines.costs(measure.GetAbsentCold, "Time:", length, func(ns float64) string { return figures.Digits(ns/1e6) + " ms" })
	if len(reads.bars) == 0 || len(time.bars) == 0 {
		return nil
	}
	title := fmt.Sprintf("What %d bits of filter per key save", measure.SavedBits)
	note := fmt.Sprintf("%s lookups of absent keys, among %s entries compressed with Snappy, in memory and without a block cache.",
		figures.Grouped(lookups), spoken(r.Entries))
	height := headingsHeight + max(reads.height(), time.height())
	return &drawing{title: title + ". " + reads.title + "; " + time.title, height: height, draw: func(c draw.Canvas) error {
		c = headings(c, title, note)
		const gap, half = 30, vg.Length(width) / 2
		reads.draw(draw.Crop(c, 0, -half-gap/2, 0, 0), longest(reads))
		time.draw(draw.Crop(c, half+gap/2, 0, 0, 0), longest(time))
		return nil
	}}
}

// ratio returns a/b, or none if a figure is 0.
func ratio(a, b float64) []float64 {
	if a == 0 || b == 0 {
		return nil
	}
	return []float64{a / b}
}

// count writes three digits of few, and all of many.
func count(n float64) string {
	if n < 100 {
		return figures.Digits(n)
	}
	return whole(n)
}

// costs returns the panel of a work with and without filters. Its title says what ours saves.
func (r *Results) costs(work, subject string, w words, figure func(float64) string) panel {
	without := r.find(measure.SavedID(0) + "/" + work)
	with := r.find(measure.SavedID(measure.SavedBits) + "/" + work)
	var p panel
	if len(without) != 1 || len(with) != 1 {
		return p
	}
	for i, c := range r.Columns {
		before, after := without[0].Cells[i].Values, with[0].Cells[i].Values
		if len(before) == 0 || len(after) == 0 {
			continue
		}
		faint := theme.Peers[2]
		if i == 0 {
			faint = theme.OursToo
		}
		p.bars = append(p.bars,
			bar{c.Name + ", no filter", figure(lookups * median(before)), median(before), faint},
			bar{c.Name + ", with filter", figure(lookups * median(after)), median(after), r.color(i)})
		if i == 0 {
			p.title = finding(subject, w, "", ratio(median(before), median(after)))
		}
	}
	return p
}
