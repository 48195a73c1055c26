package source

import (
	"errors"

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
	for range maxTries {
		if newest, found, err = s.getNewest(key, get); !s.reopenIfChanged(err) {
			break
		}
	}
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
