package source

import (
	"errors"

	"github.com/sievetable/sievetable/table"
)

// Get returns the newest version of key in the logs and tables, unless it is a tombstone.
// It opens only tables whose key range includes the key, the newest first.
//
// With a MANIFEST, it stops after the logs if they have the key, because their writes are
// newer than all tables, and else after the first level that has the key. It searches all
// tables of level 0: they overlap and, after an engine's repair, a table with a higher number
// is not always newer. Without internal keys, it stops at the first table that has the key.
func (s *Source) Get(key []byte) (newest Entry, found bool, err error) {
	get := func(f *File) (Entry, bool, error) { return f.Get(key) }
	for range maxTries {
		if newest, found, err = s.getNewest(key, get); !s.reopenIfChanged(err) {
			break
		}
	}
	return newest, found, err
}

// logLevel is the level of the logs, before that of all tables.
const logLevel = -1

// getNewest is Get with a function that searches a table. A deleted key is not found, but
// newest is its tombstone.
func (s *Source) getNewest(key []byte, ask func(f *File) (Entry, bool, error)) (getNewest Entry, found bool, err error) {
	getNewest, found, err = s.getFromLogs(key)
	if err != nil {
		return Entry{}, false, err
	}
	level := logLevel
	for _, t := range s.candidates(key) {
		if found && (!s.Internal || s.byLevel && t.level() > level) {
			break
		}
		if !s.inRange(t, key) {
			continue
		}
		e, ok, err := s.getFromTable(t, ask)
		if err != nil {
			return Entry{}, false, err
		}
		if ok && (!found || e.newerThan(getNewest)) {
			getNewest, found, level = e, true, t.level()
		}
	}
	if getNewest.Internal && getNewest.Kind == table.KindDelete {
		found = false
	}
	if err := getNewest.checkKind(); err != nil {
		return Entry{}, false, err
	}
	return getNewest, found, nil
}

// getFromTable opens a table and searches it.
func (s *Source) getFromTable(t *Table, ask func(f *File) (Entry, bool, error)) (e Entry, found bool, err error) {
	f, err := s.open(t)
	if err != nil {
		return Entry{}, false, err
	}
	defer func() { err = errors.Join(err, s.release(t, f)) }()
	e, found, err = ask(f)
	e.age = t.age
	return e, found, err
}

// Get returns the newest version of key in the table. It may be a tombstone.
func (f *File) Get(key []byte) (e Entry, found bool, err error) {
	if err := f.checkLookup(); err != nil {
		return Entry{}, false, err
	}
	var k, v []byte
	if f.Internal {
		k, v, err = f.Reader.Find(table.SeekKey(nil, key, table.MaxSequence))
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
	e, err = parseEntry(k, v, f.Internal)
	return e, err == nil, f.Wrap(err)
}
