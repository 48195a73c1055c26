package summary

import (
	"slices"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// levelsOf returns the levels of the tables, which are sorted by level. Where the order of
// users' keys is known, it sorts those of a level by their smallest keys.
func levelsOf(tables []versions.Table, user table.Comparer) []Level {
	levels := []Level{}
	for rest := tables; len(rest) > 0; { // tables are sorted by level
		n := slices.IndexFunc(rest, func(t versions.Table) bool { return t.Level != rest[0].Level })
		if n < 0 {
			n = len(rest)
		}
		l := Level{Level: rest[0].Level, Tables: n}
		for _, t := range rest[:n] {
			l.Bytes += t.Size
		}
		if user != table.AnyOrder {
			l.setRange(rest[:n], user)
		}
		levels = append(levels, l)
		rest = rest[n:]
	}
	return levels
}

// setRange sets the key range of the level, and the number of overlapping tables. It sorts
// tables.
func (l *Level) setRange(tables []versions.Table, user table.Comparer) {
	compare := table.InternalComparer(user).Compare
	slices.SortFunc(tables, func(a, b versions.Table) int { return compare(a.Smallest, b.Smallest) })
	farthest := 0 // the table with the largest Largest so far
	overlap := map[int]bool{}
	for i := 1; i < len(tables); i++ {
		if user.Compare(table.InternalFilterKey(tables[i].Smallest), table.InternalFilterKey(tables[farthest].Largest)) <= 0 {
			overlap[i], overlap[farthest] = true, true
		}
		if compare(tables[i].Largest, tables[farthest].Largest) > 0 {
			farthest = i
		}
	}
	n := len(overlap)
	l.Overlap = &n
	l.Smallest = &text.Key{Stored: tables[0].Smallest, Internal: true}
	l.Largest = &text.Key{Stored: tables[farthest].Largest, Internal: true}
}
