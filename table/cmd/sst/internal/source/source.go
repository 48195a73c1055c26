// Package source reads a table, a log, a database or a set as one sorted set of entries. Package dbfile has its files.
package source

import (
	"errors"
	"fmt"
	"io/fs"
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
	Notes  []string // what is not read, for messages
	Damage error    // what is wrong with the directory itself; for tables see Losses, for logs LogDamage

	Compressions map[string]int // of data blocks that were salvaged from tables without index: see salvage.Salvage

	o             Options
	isLog         bool      // it is a single log
	dir           dbdir.Dir // what is listed of a directory
	logs          logs
	losses        *losses
	openTables    []*Table // that stay open, the first opened one first
	openMemory    int64    // of them
	runs          []run    // see arranged; nil until then
	noted         map[string]bool
	hiding        bool // entries are hidden, which is noted
	sortsDisorder bool // see SortDisordered
}

// OpenSource opens a table, a log, or a directory. Most tables of a directory are opened
// when they are needed.
func OpenSource(path string, o Options) (*Source, error) {
	return openWith(path, o, &losses{noted: map[string]bool{}}, map[string]bool{})
}

// openWith is OpenSource with the losses and notes of the same Source before.
func openWith(path string, o Options, losses *losses, noted map[string]bool) (*Source, error) {
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
	t := &Table{TableFile: dbdir.TableFile{Path: s.Path}}
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
	if d.Set == "" || !s.o.Lookups { // that a set has tables to sweep is no answer about a key
		s.Notes = d.Notes
	}
	for _, f := range d.Flaws { // they do not matter to what is read
		s.Notes = append(s.Notes, files.Join(d.Path, f.File)+": "+f.What)
	}
	s.logs.paths = d.LogsToRead(s.o.ListOptions)
	s.o.Order = s.o.Order.Or(d.Order)
	s.Order = s.o.Order.OrBytewise()
	tables := make([]Table, len(d.Tables))
	for i := range tables {
		tables[i].TableFile = d.Tables[i]
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

// add adds the next table. If the order is known, its key range is taken from the MANIFEST, or from the manifest of its
// set.
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
	if err != nil || !t.internalKeys || t.skip { // nothing of internal keys can be read
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

// LastSequence returns the last sequence number that the MANIFEST has, without the writes in live logs. 0: there is
// no MANIFEST. A damaged one can say more than there can be: then it is the highest that can.
func (s *Source) LastSequence() uint64 {
	if s.dir.Version == nil {
		return 0
	}
	return min(s.dir.Version.LastSequence, internalkey.MaxSequence)
}

// inTables returns a sequence number: no table has a higher one, says the MANIFEST.
func (s *Source) inTables() uint64 {
	if s.dir.Version == nil || s.o.AllTables {
		return math.MaxUint64
	}
	return s.dir.Version.LastSequence
}

// isSet reports whether it is a set: Tables are in the order of their keys, which do not overlap within a layer.
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

// maxTries is how often a directory is read again when files were removed.
const maxTries = 10

// untilUnchanged calls do again when files were removed.
func (s *Source) untilUnchanged(do func() error) (err error) {
	for range maxTries {
		if err = do(); !s.reopenIfChanged(err) {
			break
		}
	}
	return err
}

// reopenIfChanged opens the directory again if err says that a file was removed, because
// its database is in use. It reports whether it did.
func (s *Source) reopenIfChanged(err error) bool {
	if !s.Dir || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	again, err := openWith(s.Path, s.o, s.losses, s.noted)
	if err != nil {
		return false
	}
	s.note("%s changed while it was read%s", s.Path, map[bool]string{false: ", because its database is in use"}[s.isSet()])
	s.Close() // it was only read
	*s = *again
	return true
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

// MissingNote says which tables do not exist and are not named by an error, or is "".
func (s *Source) MissingNote(err error) string {
	lacks := s.dir
	if err != nil {
		message := err.Error()
		lacks.Missing = slices.DeleteFunc(slices.Clone(lacks.Missing), func(l dbdir.TableFile) bool { return strings.Contains(message, l.Path+": ") })
	}
	return strings.Join(text.Lines(lacks.MissingError()), "")
}

// Options say how to open a Source, and its files.
type Options struct {
	dbdir.ListOptions
	OneTable bool // open a single table, not a directory or a log

	// Note, if not nil, is called with notes for the user, such as what is not read.
	Note func(string)

	// Lookups says that keys are looked up, and nothing is scanned.
	Lookups bool

	// Strict has the first damage end a scan or a lookup. Without it, they pass over what is
	// damaged: see Loss.
	Strict bool

	// Salvage has the pairs read that package salvage finds in a damaged table of a directory. What can be missing
	// is a Loss all the same.
	Salvage bool
}
