package dbdir

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// A TableFile is a table in a directory.
type TableFile struct {
	Path string
	Meta *versions.Table // its entry in the MANIFEST; nil: it is not listed

	Line     *set.Table // its line in the manifest of its set; nil: there is no set
	Layer    int        // the number of its layer of the set, 1 for the oldest; 0: of no layer
	Removals bool       // it is of a layer: its keys are removed from older ones
	Missing  bool       // the file does not exist
	rank     int        // of its layer in the set: 0 is the newest
	Lost     bool       // the MANIFEST may have lost it: see findLost
	Spare    bool       // it is Lost, and nothing says that the MANIFEST has lost anything
	Obsolete bool       // only its deletions count: see leaveOutObsolete

	by       *versions.Version // that lists it, if it is Missing
	number   uint64            // in its name
	numbered bool              // there is one
}

// numbered returns the TableFile of a path, with the number in its name.
func numbered(path string) TableFile {
	n, err := dbfile.FileNumber(path)
	return TableFile{Path: path, number: n, numbered: err == nil}
}

// hasEngineName reports whether the name is as engines write it: a number of at least 6 digits.
func (l TableFile) hasEngineName() bool {
	name := filepath.Base(l.Path)
	digits := strings.TrimSuffix(name, filepath.Ext(name))
	return l.numbered && (len(digits) == 6 || len(digits) > 6 && digits[0] != '0')
}

// All returns all tables, also those that are missing: those of the newest layer or level first, of a
// set in the order of keys, else the newest first. It can be Tables itself.
func (d *Dir) All() []TableFile {
	if len(d.Missing) == 0 {
		return d.Tables
	}
	all, order := slices.Concat(d.Tables, d.Missing), compareNewestFirst
	if d.Set != "" {
		order = func(a, b TableFile) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), bytes.Compare(a.Line.Smallest, b.Line.Smallest))
		}
	}
	slices.SortStableFunc(all, order)
	return all
}

// compareNewestFirst orders tables by level, and then by number, the highest first. Tables
// without a number are ordered by name, the last first.
func compareNewestFirst(a, b TableFile) int {
	return cmp.Or(cmp.Compare(a.Level(), b.Level()), compareNumbered(b, a))
}

// compareNumbered orders files by the number in their names, or else by name.
func compareNumbered(a, b TableFile) int {
	if a.numbered && b.numbered && a.number != b.number {
		return cmp.Compare(a.number, b.number)
	}
	return strings.Compare(a.Path, b.Path)
}

// FileOptions returns how to open the table.
func (l TableFile) FileOptions(o ListOptions) dbfile.Options {
	f := o.Options
	f.Meta, f.Line, f.Numbered, f.AnyKind = l.Meta, l.Line, l.hasEngineName(), o.Repair
	if l.Line != nil {
		f.InternalKeys = dbfile.No
	}
	return f
}

// Level returns the level in the MANIFEST, or the rank of a layer of a set. Tables that are not listed
// count as newer than all levels.
func (l TableFile) Level() int {
	if l.Line != nil {
		return l.rank
	}
	if l.Meta == nil {
		return -1
	}
	return l.Meta.Level
}

// maxNames is how many names of tables a note has.
const maxNames = 3

// firstNames returns the names of tables, or their number and the first names.
func firstNames(tables []TableFile) string {
	var names []string
	for _, l := range tables {
		names = append(names, filepath.Base(l.Path))
	}
	slices.Sort(names)
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s (%s, …)", text.Count(uint64(len(names)), "table"), strings.Join(names[:maxNames], ", "))
}

// MissingError says which tables do not exist, or is nil.
func (d *Dir) MissingError() error {
	if len(d.Missing) == 0 {
		return nil
	}
	by := filepath.Base(d.Set)
	if d.Version != nil {
		by = d.Version.Manifest
	}
	return wal.Corruptionf("%s: missing %s (listed in %s)", d.Path, firstNames(d.Missing), by)
}

// A MissingTable is the error for a table of a database that does not exist. It is damage.
type MissingTable struct{ by *versions.Version }

func (m *MissingTable) Error() string { return "missing (" + m.Listed() + ")" }

// Listed says what lists the table.
func (m *MissingTable) Listed() string {
	if m.by.Torn > 0 {
		return "listed in " + m.by.Manifest + ", of which the end was cut off, so that the table may be obsolete"
	}
	return "listed in " + m.by.Manifest
}

// Is reports whether target is table.ErrCorrupt.
func (*MissingTable) Is(target error) bool { return target == table.ErrCorrupt }

// Open opens the table. A missing one is damage.
func (l TableFile) Open(o ListOptions) (*dbfile.File, error) {
	switch {
	case !l.Missing:
		return dbfile.Open(l.Path, l.FileOptions(o))
	case l.Line != nil:
		return nil, &dbfile.FileError{Path: l.Path, Err: dbfile.Corruption("missing, though the manifest of the set lists it: put it back, or build the set again")}
	}
	return nil, &dbfile.FileError{Path: l.Path, Err: &MissingTable{l.by}}
}
