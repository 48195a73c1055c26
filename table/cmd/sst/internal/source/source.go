package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/table"
)

// A Source is a table, or the tables and logs of a directory, which are searched as one.
type Source struct {
	Path     string
	Dir      bool
	Internal bool
	Order    table.Comparer // of users' keys; table.AnyOrder if it is not known
	Tables   []*Table       // the newest first, as far as their names and levels tell
	Notes    []string       // what is not seen, for people
	Damage   error          // what is lost of a directory, of which the rest is seen

	o      Options
	log    bool // it is a log alone
	levels bool // what is found in a level is newer than what is in those below
	logs   logs
	kept   int // how many tables stay open
}

// OpenSource opens a table, or those of a directory as they are come to.
func OpenSource(path string, o Options) (*Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s := &Source{Path: path, Dir: info.IsDir(), o: o}
	switch {
	case s.Dir:
		err = s.openDir()
	case IsLog(path) && !o.OneTable:
		s.log, s.logs.paths, s.Order = true, []string{path}, o.Order.Or(orderBesideLog(path)).OrBytewise()
	default:
		err = s.openFile()
	}
	if err == nil {
		err = s.agree()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openFile opens the only table.
func (s *Source) openFile() error {
	t := &Table{Listed: Listed{Path: s.Path}}
	f, err := s.open(t)
	if err != nil {
		return err
	}
	t.internal, t.empty = f.Internal, f.Empty
	s.Tables, s.Order = []*Table{t}, f.Order
	return nil
}

// openDir opens a directory.
func (s *Source) openDir() error {
	d, err := ListDir(s.Path, s.o)
	if err != nil {
		return err
	}
	s.Notes, s.Damage, s.logs = d.Notes, errors.Join(d.Damage...), logs{paths: slices.DeleteFunc(d.Logs, isEmpty)}
	s.levels = d.Version != nil && !s.o.AllTables && s.o.InternalKeys != No
	s.o.Order = s.o.Order.Or(d.Order)
	s.Order = s.o.Order.OrBytewise()
	for _, l := range d.Tables {
		if err := s.add(l); err != nil {
			return err
		}
	}
	s.settleOrder()
	return nil
}

// isEmpty reports whether there is nothing in a file.
func isEmpty(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// add adds the next table. What the MANIFEST says of its range is taken where the order is
// sure.
func (s *Source) add(l Listed) error {
	t := &Table{Listed: l, rank: len(s.Tables)}
	s.Tables = append(s.Tables, t)
	if l.Meta != nil && s.o.InternalKeys != No && s.Order == table.BytewiseComparer {
		t.internal, t.smallest, t.largest = true, l.Meta.Smallest, l.Meta.Largest
		return nil
	}
	return s.sniff(t)
}

// agree checks that either all tables with keys have internal keys, or none. Those of logs
// are internal keys.
func (s *Source) agree() error {
	var with, without *Table
	for _, t := range s.Tables {
		switch {
		case t.internal:
			with = t
		case !t.empty:
			without = t
		}
	}
	if with != nil && without != nil {
		return fmt.Errorf("%s: keys of %s look like internal keys, and those of %s do not: say --internal-keys yes or no",
			s.Path, filepath.Base(with.Path), filepath.Base(without.Path))
	}
	s.Internal = with != nil || without == nil && len(s.logs.paths) > 0 && s.o.InternalKeys != No
	if !s.Internal {
		s.dropLogs()
	}
	return nil
}

// order is the order of the tables' keys, as they are stored.
func (s *Source) order() table.Comparer {
	if s.Internal {
		return table.InternalComparer(s.Order)
	}
	return s.Order
}

// File returns the only table: see Options.OneTable.
func (s *Source) File() *File { return s.Tables[0].file }

// Close closes all tables.
func (s *Source) Close() error {
	errs := []error{s.logs.sorted.close()}
	for _, t := range s.Tables {
		if t.file != nil {
			errs = append(errs, t.file.Close())
		}
	}
	return errors.Join(errs...)
}

// tries is how often a directory that changes is read anew, to get on.
const tries = 10

// changed reports whether an error is that a file of the directory is gone, which happens
// when the database is in use. The Source is then what the directory has now.
func (s *Source) changed(err error) bool {
	if !s.Dir || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	again, err := OpenSource(s.Path, s.o)
	if err != nil {
		return false
	}
	s.note("%s changed while it was read: its database is in use", s.Path)
	s.Close() // it was only read
	*s = *again
	return true
}

// note says something of what is read.
func (s *Source) note(format string, args ...any) {
	if s.o.Note != nil {
		s.o.Note(fmt.Sprintf(format, args...))
	}
}
