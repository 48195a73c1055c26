// Package source reads a table, a log, a database or a set as one sorted set of entries. Package dbfile opens the
// files.
package source

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A Source is a table, a log, or a directory of tables and logs, which are read as one.
type Source struct {
	dbfile.Stored
	Path   string
	Dir    bool
	Tables []*Table // the newest first, by level and name
	Notes  []string // messages about files that are not read, and the like
	Damage error    // damage of the directory itself; for tables see Losses, for logs LogDamage

	Compressions map[string]int // of data blocks salvaged from tables without an index: see salvage.Salvage

	o             Options
	isLog         bool      // it is a single log
	dir           dbdir.Dir // the listed directory
	logs          logs
	losses        *losses
	openTables    []*Table // tables that stay open, in the order in which they were opened
	openMemory    int64    // memory that openTables take
	runs          []run    // set by arranged
	noted         map[string]bool
	hiding        bool // hidden entries were found and noted
	sortsDisorder bool // see SortDisordered
}

// OpenSource opens a table, a log, or a directory. Most tables of a directory are opened
// when they are needed.
func OpenSource(path string, o Options) (*Source, error) {
	return openWith(path, o, &losses{noted: map[string]bool{}}, map[string]bool{})
}

func openOnce(path string, o Options, losses *losses, noted map[string]bool) (*Source, error) {
	_, err := files.Stat(path)
	if s, found := dbfile.StandInOf(path, nil, err); found {
		return nil, &dbfile.FileError{Path: path, Err: s.InPlaceOfTable(dbfile.IsInManifest(path))}
	}
	if err != nil {
		return nil, err
	}
	s := &Source{Path: path, Dir: dbdir.IsDirectory(path), o: o, losses: losses, noted: noted, Compressions: map[string]int{}}
	switch {
	case s.Dir:
		err = s.openDir()
	case !o.OneTable && dbfile.IsLogFile(path, o.Options):
		s.isLog, s.logs.paths, s.Order = true, []string{path}, o.Order.Or(dbfile.ManifestOrderOf(path)).OrBytewise()
	default:
		err = s.openFile()
	}
	if err == nil {
		err = s.checkInternalKeys()
	}
	if replaced := s.checkReplaced(); replaced != nil {
		err = replaced
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// IsTable reports whether the source is a single table.
func (s *Source) IsTable() bool { return !s.Dir && !s.isLog }

// openFile opens a single table.
func (s *Source) openFile() error {
	s.o.FewBlocks = s.o.Lookups
	t := &Table{File: dbdir.File{Path: s.Path}}
	f, err := s.open(t)
	if err != nil {
		return err
	}
	t.learn(f)
	s.Tables, s.Order = []*Table{t}, f.Order
	return nil
}

// openDir opens a directory.
func (s *Source) openDir() error {
	d, err := dbdir.ListDir(s.Path, s.o.ListOptions)
	if err != nil {
		return err
	}
	s.dir, s.Damage = d, errors.Join(d.Damage...)
	if d.Set == "" || !s.o.Lookups { // lookups need no note that a set has tables to sweep
		s.Notes = d.Notes
	}
	for _, f := range d.Flaws { // flaws do not affect reading
		s.Notes = append(s.Notes, files.Join(d.Path, f.File)+": "+f.What)
	}
	s.logs.paths = d.LogsToRead(s.o.ListOptions)
	s.o.Order = s.o.Order.Or(d.Order)
	s.Order = s.o.Order.OrBytewise()
	tables := make([]Table, len(d.Tables))
	for i := range tables {
		tables[i].File = d.Tables[i]
		if err := s.add(&tables[i]); err != nil {
			return err
		}
	}
	s.noteUnknownOrder()
	if s.o.Repair && d.Version == nil && s.o.Order.Comparer == nil && s.Order != table.AnyOrder {
		s.Notes = append(s.Notes, fmt.Sprintf("%s: the comparator is unknown: assuming bytewise order, in which the keys are. For another one, use --comparator", s.Path))
	}
	return nil
}

// add adds the next table. In a set, its key range is taken from the set's manifest. In a database whose order is
// known, it is taken from the MANIFEST.
func (s *Source) add(t *Table) error {
	t.age = len(s.Tables)
	s.Tables = append(s.Tables, t)
	if t.Line != nil {
		t.smallest, t.largest = t.Line.Smallest, t.Line.Largest
		return nil
	}
	if t.Meta != nil && s.o.InternalKeys != dbfile.No && s.Order != table.AnyOrder {
		s.trustManifest(t)
		return nil
	}
	err := s.inspect(t)
	if !t.Lost {
		return err
	}
	if err != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("%v: the table is skipped", err))
	}
	if err != nil || !t.internalKeys || t.skip { // no internal keys can be read
		s.Tables = s.Tables[:len(s.Tables)-1]
	}
	return nil
}

// checkInternalKeys checks that either all tables have internal keys, or none. Logs always
// have internal keys.
func (s *Source) checkInternalKeys() error {
	var with, without *Table
	for _, t := range s.Tables {
		switch {
		case t.internalKeys:
			with = t
		case !t.empty:
			without = t
		}
	}
	if with != nil && without != nil {
		return fmt.Errorf("%s: keys of %s look like internal keys, but keys of %s do not: use --internal-keys yes or no",
			s.Path, filepath.Base(with.Path), filepath.Base(without.Path))
	}
	if s.isLog && s.o.InternalKeys == dbfile.No {
		return fmt.Errorf("%s: --internal-keys is no, but the writes in a log have sequence numbers: use auto or yes", s.Path)
	}
	s.Internal = with != nil || without == nil && len(s.logs.paths) > 0 && s.o.InternalKeys != dbfile.No
	if s.Internal {
		return nil
	}
	for _, path := range s.logs.paths {
		s.Notes = append(s.Notes, fmt.Sprintf("ignored %s, because the tables' keys are not internal keys: it may contain writes that are in no table yet", path))
	}
	s.logs.paths = nil
	return nil
}

// HasKeys reports whether the tables and logs can have keys.
func (s *Source) HasKeys() bool {
	return len(s.logs.paths) > 0 || slices.ContainsFunc(s.Tables, func(t *Table) bool { return !t.skip })
}

// LastSequence returns the MANIFEST's last sequence number, or 0 if there is no MANIFEST. Live logs may contain
// later writes. If a damaged MANIFEST has an impossible number, LastSequence returns the highest possible one.
func (s *Source) LastSequence() uint64 {
	if s.dir.Version == nil {
		return 0
	}
	return min(s.dir.Version.LastSequence, internalkey.MaxSequence)
}

// inTables returns the highest sequence number in tables according to the MANIFEST, or MaxUint64 if that is
// unknown.
func (s *Source) inTables() uint64 {
	if s.dir.Version == nil || s.o.AllTables {
		return math.MaxUint64
	}
	return s.dir.Version.LastSequence
}

// isSet reports whether s is a set. Then Tables are in key order, and do not overlap within a layer.
func (s *Source) isSet() bool { return s.dir.Set != "" }

// File returns the single table: see Options.OneTable.
func (s *Source) File() *dbfile.File { return s.Tables[0].file }

// Close closes all tables.
func (s *Source) Close() error {
	errs := []error{s.logs.sorted.Close()}
	for _, t := range s.Tables {
		if t.file != nil {
			errs = append(errs, t.file.Close())
		}
	}
	return errors.Join(errs...)
}

// note calls Options.Note, once for each note.
func (s *Source) note(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if s.o.Note == nil || s.noted[note] {
		return
	}
	s.noted[note] = true
	s.o.Note(note)
}

// MissingNote lists the missing tables that err does not name. It returns "" if there are none.
func (s *Source) MissingNote(err error) string {
	dir := s.dir
	if err != nil {
		message := err.Error()
		dir.Tables = slices.DeleteFunc(slices.Clone(dir.Tables), func(l dbdir.File) bool { return l.Missing && strings.Contains(message, l.Path+": ") })
	}
	return strings.Join(text.Lines(dir.MissingError()), "")
}

// Options are the options for opening a Source and its files.
type Options struct {
	dbdir.ListOptions
	OneTable bool // open a single table, not a directory or a log

	// If Note is not nil, it is called with notes for the user, for example about files that are not read.
	Note func(string)

	// Lookups means that keys are only looked up, never scanned.
	Lookups bool

	// Strict makes scans and lookups stop at the first damage. Otherwise they skip damaged parts: see Loss.
	Strict bool

	// Salvage makes a Source of a directory read the pairs that package salvage finds in a damaged table. Keys that
	// may still be missing are a Loss.
	Salvage bool
}
