package source

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// Get returns the newest version of key in the logs and tables, unless it is a tombstone. It opens only tables
// whose key range includes the key, newest first.
//
// If the logs contain a version that is newer than all tables according to the MANIFEST, Get stops there. Otherwise
// it searches all levels, since LevelDB up to 1.20 can leave the newest version below an older one. Without
// internal keys, Get stops at the first table that contains the key.
//
// Get skips damaged parts. If these may hide a newer version, the error is a merge.HiddenError.
func (s *Source) Get(key []byte) (newest Entry, found bool, err error) {
	get := func(_ *Table, f *dbfile.File) (dbfile.Entry, bool, error) { return f.Get(key) }
	err = s.untilUnchanged(func() (err error) {
		newest, found, err = s.getNewest(key, get)
		return err
	})
	return newest, found, err
}

// getNewest is like Get, but searches tables with a function. If the key is deleted, found is false and newest is
// its tombstone.
func (s *Source) getNewest(key []byte, search func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error)) (newest Entry, found bool, err error) {
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
		e, ok, err := s.getFromTable(t, search)
		if err != nil && !s.isPassedOver(err) {
			return Entry{}, false, err
		}
		damage = append(damage, err)
		if ok && (!found || e.newerThan(newest)) {
			newest, found = e, true
		}
	}
	found = found && newest.Kind != internalkey.Delete
	if err := s.checkKind(newest); err != nil {
		found, damage = false, append(damage, err)
	}
	if err := errors.Join(damage...); err != nil {
		hidden := &merge.HiddenError{Found: found, Err: err}
		if found {
			hidden.Value = newest.Value
		}
		return newest, found, hidden
	}
	return newest, found, nil
}

// getFromTable opens a table and searches it. Even with an error it may return an entry, which can be an older
// version.
func (s *Source) getFromTable(t *Table, search func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error)) (e Entry, found bool, err error) {
	f, err := s.open(t)
	if err != nil {
		return Entry{}, false, err
	}
	defer func() { err = errors.Join(err, s.release(t, f)) }()
	f.HiddenFrom = s.hiddenFrom()
	e.Entry, found, err = search(t, f)
	t.removes(&e)
	if e.Table, e.age = t, t.age; err == nil && (f.IsSorted() || t.replaced) {
		err = s.lossIn(t)
	}
	return e, found, err
}

// Explain is like Get, but also returns a LookupTrace for each table that it searches.
func (s *Source) Explain(key []byte) (newest Entry, found bool, paths []dbfile.LookupTrace, err error) {
	explain := func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error) {
		p, err := f.Explain(key)
		p.Removed = p.Found && t.Removals
		if p.FilterOnly && s.Dir && !s.isSet() {
			err = f.Wrap(table.ErrFilterOnly)
		}
		paths = append(paths, p)
		return p.Entry, p.Found, err
	}
	err = s.untilUnchanged(func() (err error) {
		paths = nil
		newest, found, err = s.getNewest(key, explain)
		return err
	})
	return newest, found, paths, err
}

// FilterOnly reports whether the source is a filter-only table or a set of them. A set's first readable table decides.
func (s *Source) FilterOnly() bool {
	if s.isLog || s.Dir && !s.isSet() {
		return false
	}
	keyed := slices.DeleteFunc(slices.Clone(s.Tables), func(t *Table) bool { return t.Removals })
	if s.isSet() && files.IsRemote(s.Path) { // opening a table takes a request
		return len(keyed) > 0 && filepath.Ext(keyed[0].Path) == ".filter"
	}
	for f := range s.readable(slices.All(keyed)) {
		if only, err := f.FilterOnly(); err == nil {
			return only
		}
	}
	return false
}

// MayContain checks the filters of a single table, or of the tables of a set that may contain the key. Removals are
// checked exactly.
func (s *Source) MayContain(key []byte) (may bool, err error) {
	search := func(t *Table, f *dbfile.File) (dbfile.Entry, bool, error) {
		if t.Removals {
			return f.Get(key)
		}
		may, err := f.MayContain(key)
		return dbfile.Entry{}, may, err
	}
	for _, t := range s.candidates(key) {
		if _, has, err := s.getFromTable(t, search); has || err != nil {
			return !t.Removals, err
		}
	}
	return false, nil
}
