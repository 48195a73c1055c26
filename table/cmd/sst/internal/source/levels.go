package source

import (
	"slices"
	"sort"
)

// A level is a level of a database, for lookups.
type level struct {
	tables   []*Table
	disjoint bool // they are in the order of their keys, and overlap in one user key at most
}

// levelsOf returns the levels of a database, the newest first.
func (s *Source) levelsOf() (all []level) {
	for from := 0; from < len(s.Tables); {
		to := from + 1
		for to < len(s.Tables) && s.Tables[to].level() == s.Tables[from].level() {
			to++
		}
		all = append(all, s.newLevel(s.Tables[from:to]))
		from = to
	}
	return all
}

// newLevel returns the level of these tables. Those of level 0 overlap, and others can by damage.
func (s *Source) newLevel(tables []*Table) level {
	if slices.ContainsFunc(tables, func(t *Table) bool { return t.smallest == nil }) {
		return level{tables, false}
	}
	sorted := slices.Clone(tables)
	slices.SortStableFunc(sorted, func(a, b *Table) int { return s.order().Compare(a.smallest, b.smallest) })
	for i, t := range sorted {
		if i > 0 && s.Order.Compare(s.userKey(sorted[i-1].largest), s.userKey(t.smallest)) > 0 {
			return level{tables, false}
		}
	}
	return level{sorted, true}
}

// candidatesByLevel returns the tables whose range has a user key, and those of unknown range and of levels
// that overlap, the newest levels first.
func (s *Source) candidatesByLevel(key []byte) (all []*Table) {
	if s.levels == nil {
		s.levels = s.levelsOf()
	}
	for _, l := range s.levels {
		if !l.disjoint {
			all = append(all, l.tables...)
			continue
		}
		first := sort.Search(len(l.tables), func(i int) bool {
			return s.Order.Compare(s.userKey(l.tables[i].largest), key) >= 0
		})
		end := first
		for end < len(l.tables) && s.inRange(l.tables[end], key) {
			end++
		}
		n := len(all)
		all = append(all, l.tables[first:end]...)
		slices.SortFunc(all[n:], func(a, b *Table) int { return a.age - b.age })
	}
	return all
}
