package source

import (
	"errors"

	"github.com/sievetable/sievetable/table"
)

// Get returns the entry that key has in the logs and tables together: its newest version,
// if that is no tombstone. Only tables that may have it are opened, the newest first. Of
// those of a database all of a level are asked, since in level 0 what is newer does not
// follow from names, and none below one that has the key. Of tables without internal keys
// the first that has it is the last to be asked.
func (s *Source) Get(key []byte) (newest Entry, found bool, err error) {
	get := func(f *File) (Entry, bool, error) { return f.Get(key) }
	for range tries {
		if newest, found, err = s.newest(key, get); !s.changed(err) {
			break
		}
	}
	return newest, found, err
}

// newest is Get, by asking each table.
func (s *Source) newest(key []byte, ask func(f *File) (Entry, bool, error)) (newest Entry, found bool, err error) {
	newest, found, err = s.inLogs(key)
	if err != nil {
		return Entry{}, false, err
	}
	level := 0
	for _, t := range s.Tables {
		if found && (!s.Internal || s.levels && t.level() > level) {
			break
		}
		if !s.mayHold(t, key) {
			continue
		}
		e, ok, err := s.askTable(t, ask)
		if err != nil {
			return Entry{}, false, err
		}
		if ok && (!found || e.newerThan(newest)) {
			newest, found, level = e, true, t.level()
		}
	}
	if newest.Internal && newest.Kind == table.KindDelete {
		found = false
	}
	return newest, found, nil
}

// askTable asks one table.
func (s *Source) askTable(t *Table, ask func(f *File) (Entry, bool, error)) (e Entry, found bool, err error) {
	f, err := s.open(t)
	if err != nil {
		return Entry{}, false, err
	}
	defer func() { err = errors.Join(err, s.release(t, f)) }()
	e, found, err = ask(f)
	e.rank = t.rank
	return e, found, err
}
