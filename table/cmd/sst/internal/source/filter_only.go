package source

import (
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// FilterOnly reports whether the source is a table with a filter only, or a set of such tables.
// A set is one if its first table is.
func (s *Source) FilterOnly() bool {
	if s.isLog || s.Dir && !s.isSet() {
		return false
	}
	for _, t := range s.Tables {
		if t.Removals {
			continue // which have keys
		}
		if f, err := s.open(t); err == nil {
			only := f.Reader.FilterOnly()
			return s.release(t, f) == nil && only
		}
	}
	return false
}

// TableFilter returns the policy of the table filter of the oldest table that can be opened, which is one of the base of
// a set, or "" if it has none.
func (s *Source) TableFilter() string {
	for _, t := range slices.Backward(s.Tables) {
		if f, err := s.open(t); err == nil {
			policy := strings.TrimPrefix(f.Filters().TableEntry.Name, format.TableFilterPrefix)
			if s.release(t, f) != nil {
				return ""
			}
			return policy
		}
	}
	return ""
}

// MayContain asks the filters of a single table, or of the table of a set that may have the key. Removals are asked
// exactly.
func (s *Source) MayContain(key []byte) (may bool, err error) {
	ask := func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error) {
		if t.Removals {
			return f.Get(key)
		}
		return dbfile.Entry{}, f.MayContain(key), nil
	}
	for _, t := range s.candidates(key) {
		if _, has, err := s.getFromTable(t, ask); has || err != nil {
			return !t.Removals, err
		}
	}
	return false, nil
}
