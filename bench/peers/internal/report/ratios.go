package report

import (
	"slices"
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

// A span is a median with the least and the most of the same figures.
type span struct{ low, mid, high float64 }

// spanOf returns the span of figures. ok is false if there are none.
func spanOf(figures []float64) (s span, ok bool) {
	if len(figures) == 0 {
		return s, false
	}
	return span{slices.Min(figures), median(figures), slices.Max(figures)}, true
}

// ratio returns how many times as long as ours column i took, of the ratios within each round.
func ratio(row measure.Row, i int) (span, bool) { return spanOf(row.Ratios(i)) }

// figure returns what column i took.
func figure(row measure.Row, i int) (span, bool) { return spanOf(row.Cells[i].Values) }

// rival is the engine that titles compare with. A column of it is with its cache, and another without.
const rival = "goleveldb"

const withCache = " with cache"

// state is whether block caches are full, or not there.
type state struct {
	name string
	warm bool
}

var (
	warm = state{"full block cache", true}
	cold = state{"no block cache", false}
)

// has returns whether a column is an engine in that state. One without cache is never warm, and one
// that cannot do without it never cold.
func (s state) has(name string) bool {
	if strings.HasPrefix(name, rival) {
		return s.warm == strings.HasSuffix(name, withCache)
	}
	return true
}

// shown names a column where the state is known.
func shown(name string) string {
	if filterless(name) {
		name += ", no filter"
	}
	return strings.TrimSuffix(shorter.Replace(name), withCache)
}

// shorter makes names fit beside bars on a phone.
var shorter = strings.NewReplacer("DB.Get", "Get", " with assertions", ", assertions")

// filterless returns whether the engine of that name asks no filter.
func filterless(name string) bool { return name == "Pebble DB.Get" || name == "bbolt" }

// rivals returns the medians of the rival's ratios, in the rows that have one.
func (r *Results) rivals(rows []measure.Row, s state) (all []float64) {
	for i, c := range r.Columns {
		if strings.HasPrefix(c.Name, rival) && s.has(c.Name) {
			all = append(all, ratiosOf(rows, i)...)
		}
	}
	return all
}

// ratiosOf returns the medians of column i's ratios, in the rows that have one.
func ratiosOf(rows []measure.Row, i int) (all []float64) {
	for _, row := range rows {
		if s, ok := ratio(row, i); ok && s.mid > 0 {
			all = append(all, s.mid)
		}
	}
	return all
}

// find returns the rows of a section or with an ID.
func (r *Results) find(sectionOrID string) []measure.Row {
	var rows []measure.Row
	for _, row := range r.Rows {
		if row.Section == sectionOrID || strings.HasSuffix(row.ID, sectionOrID) {
			rows = append(rows, row)
		}
	}
	return rows
}
