package source

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// Get returns the newest version of key in the logs and tables, unless it is a tombstone.
// It opens only tables whose key range includes the key, the newest first.
//
// It stops after the logs if they have a version that is newer than all tables, as the MANIFEST says. Any level can
// have the newest version: LevelDB up to 1.20 can leave it below an older one. Without internal keys, Get stops at the
// first table that has the key.
//
// Get passes over what is damaged. If that may hide a newer version, the error is a table.HiddenError.
func (s *Source) Get(key []byte) (newest Entry, found bool, err error) {
	get := func(_ *Table, f *dbfile.File) (dbfile.Entry, bool, error) { return f.Get(key) }
	err = s.untilUnchanged(func() (err error) {
		newest, found, err = s.getNewest(key, get)
		return err
	})
	return newest, found, err
}

// getNewest is Get with a function that searches a table. A deleted key is not found, but
// newest is its tombstone.
func (s *Source) getNewest(key []byte, ask func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error)) (newest Entry, found bool, err error) {
	newest, found, err = s.getFromLogs(key)
	if err != nil {
		return Entry{}, false, err
	}
	var damage []error
	isNewest := found && newest.Sequence > s.inTables()
	for _, t := range s.candidates(key) {
		if isNewest || found && !s.Internal {
			break
		}
		e, ok, err := s.getFromTable(t, ask)
		if err != nil && !s.isPassedOver(err) {
			return Entry{}, false, err
		}
		damage = append(damage, err)
		if ok && (!found || e.newerThan(newest)) {
			newest, found = e, true
		}
	}
	found = found && newest.Kind != table.KindDelete
	if err := s.checkKind(newest); err != nil {
		found, damage = false, append(damage, err)
	}
	if err := errors.Join(damage...); err != nil {
		hidden := &table.HiddenError{Found: found, Err: err}
		if found {
			hidden.Value = newest.Value
		}
		return newest, found, hidden
	}
	return newest, found, nil
}

// getFromTable opens a table and searches it. With an error, it may have found an older version.
func (s *Source) getFromTable(t *Table, ask func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error)) (e Entry, found bool, err error) {
	f, err := s.open(t)
	if err != nil {
		return Entry{}, false, err
	}
	defer func() { err = errors.Join(err, s.release(t, f)) }()
	f.HiddenFrom = s.hiddenFrom()
	e.Entry, found, err = ask(t, f)
	t.removes(&e)
	if e.Table, e.age = t, t.age; err == nil && (f.IsSorted() || t.replaced) {
		err = s.lossIn(t)
	}
	return e, found, err
}

// Explain is Get with a LookupTrace for each table that it searches.
func (s *Source) Explain(key []byte) (newest Entry, found bool, paths []dbfile.LookupTrace, err error) {
	newest, found, err = s.getNewest(key, func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error) {
		p, err := f.Explain(key)
		p.Removed = p.Found && t.Removals
		if p.FilterOnly && s.Dir && !s.isSet() {
			err = f.Wrap(table.ErrFilterOnly)
		}
		paths = append(paths, p)
		return p.Entry, p.Found, err
	})
	return newest, found, paths, err
}

// FilterOnly reports whether the source is a table with a filter only, or a set of such tables.
// A set is one if its first table is.
func (s *Source) FilterOnly() (only bool) {
	if s.isLog || s.Dir && !s.isSet() {
		return false
	}
	keyed := slices.DeleteFunc(slices.Clone(s.Tables), func(t *Table) bool { return t.Removals }) // which have keys
	s.withFirst(slices.All(keyed), func(f *dbfile.File) { only = f.Reader.FilterOnly() })
	return only
}

// TableFilter returns the policy of the table filter of the oldest table that can be opened, which is one of the base of
// a set, or "" if it has none.
func (s *Source) TableFilter() (policy string) {
	s.withFirst(slices.Backward(s.Tables), func(f *dbfile.File) {
		policy = strings.TrimPrefix(f.Filters().TableEntry.Name, format.TableFilterPrefix)
	})
	return policy
}

// withFirst calls do with the first of the tables that can be opened. Errors come again when the table is read.
func (s *Source) withFirst(tables iter.Seq2[int, *Table], do func(*dbfile.File)) {
	for _, t := range tables {
		if f, err := s.open(t); err == nil {
			do(f)
			s.release(t, f) // it was only read
			return
		}
	}
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
