package source

import (
	"errors"

	"github.com/sievetable/sievetable/table"
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
	get := func(_ *Table, f *File) (Entry, bool, error) { return f.Get(key) }
	for range maxTries {
		if newest, found, err = s.getNewest(key, get); !s.reopenIfChanged(err) {
			break
		}
	}
	return newest, found, err
}

// getNewest is Get with a function that searches a table. A deleted key is not found, but
// newest is its tombstone.
func (s *Source) getNewest(key []byte, ask func(t *Table, f *File) (Entry, bool, error)) (newest Entry, found bool, err error) {
	newest, found, err = s.getFromLogs(key)
	if err != nil {
		return Entry{}, false, err
	}
	var damage []error
	for _, t := range s.candidates(key) {
		if found && (!s.Internal || newest.Sequence > s.inTables()) {
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
	if err := newest.checkKind(); err != nil {
		found, damage = false, append(damage, err)
	}
	if err := errors.Join(damage...); err != nil {
		return newest, found, &table.HiddenError{Found: found, Value: newest.Value, Err: err}
	}
	return newest, found, nil
}

// getFromTable opens a table and searches it. With an error, it may have found an older version.
func (s *Source) getFromTable(t *Table, ask func(t *Table, f *File) (Entry, bool, error)) (e Entry, found bool, err error) {
	f, err := s.open(t)
	if err != nil {
		return Entry{}, false, err
	}
	defer func() { err = errors.Join(err, s.release(t, f)) }()
	f.hiddenFrom = s.hiddenFrom()
	e, found, err = ask(t, f)
	t.removes(&e)
	if e.Table, e.age = t, t.age; err == nil && (f.sorted != nil || t.replaced) {
		err = s.lossIn(t)
	}
	return e, found, err
}

// Get returns the newest version of key in the table. It may be a tombstone.
func (f *File) Get(key []byte) (e Entry, found bool, err error) {
	e, found, err = f.lookUp(key)
	if err == nil && !found {
		err = f.checkMiss(key)
	}
	return e, found, err
}

// lookUp is Get, but does not check a miss.
func (f *File) lookUp(key []byte) (e Entry, found bool, err error) {
	if err := f.checkLookup(); err != nil {
		return Entry{}, false, err
	}
	var k, v []byte
	if f.Internal {
		k, v, err = f.Reader.Find(table.SearchKey(nil, key, f.hiddenFrom-1)) // 0: all
	} else {
		k = key
		v, err = f.Reader.Get(key)
	}
	if errors.Is(err, table.ErrNotFound) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, f.Wrap(err)
	}
	if e, err = parseEntry(k, v, f.Internal); e.Kind > table.KindSet {
		block, _ := f.Reader.Locate(k)
		e.Offset, e.length = block.Offset, block.Length
	}
	return e, err == nil, f.Wrap(err)
}
