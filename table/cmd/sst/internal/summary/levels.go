package summary

import (
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// levelsOf returns the levels of the tables, which are sorted by level. Where the order of
// users' keys is known, it sorts those of a level by their smallest keys.
func levelsOf(tables []database.Table, user table.Comparer) []Level {
	levels := []Level{}
	for rest := tables; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(t database.Table) bool { return t.Level != rest[0].Level })
		if n < 0 {
			n = len(rest)
		}
		l := Level{Level: rest[0].Level, Tables: n}
		for _, t := range rest[:n] {
			l.Bytes += t.Size
		}
		if user != table.AnyOrder {
			l.span(rest[:n], user)
		}
		levels = append(levels, l)
		rest = rest[n:]
	}
	return levels
}

// span sorts a level's tables, and finds their range and how many overlap.
func (l *Level) span(tables []database.Table, user table.Comparer) {
	compare := table.InternalComparer(user).Compare
	slices.SortFunc(tables, func(a, b database.Table) int { return compare(a.Smallest, b.Smallest) })
	farthest := 0 // the table that goes on for longest
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
