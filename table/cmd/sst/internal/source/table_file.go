package source

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
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

	by       *versions.Version // that lists it, if it is Missing
	number   uint64            // in its name
	numbered bool              // there is one
}

// numbered returns the TableFile of a path, with the number in its name.
func numbered(path string) TableFile {
	n, err := fileNumber(path)
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
	if order := cmp.Compare(a.level(), b.level()); order != 0 {
		return order
	}
	if a.numbered && b.numbered && a.number != b.number {
		return cmp.Compare(b.number, a.number)
	}
	return strings.Compare(b.Path, a.Path)
}

// manifestSize returns the size in the MANIFEST. Engines ignore what follows in the file.
func (l TableFile) manifestSize() int64 {
	if l.Meta == nil {
		return 0
	}
	return int64(min(l.Meta.Size, math.MaxInt64))
}

// Options returns the Options for opening the table.
func (l TableFile) Options(o Options) Options {
	if o.listed = l; l.Line != nil {
		o.InternalKeys = No
	}
	return o
}

// level returns the level in the MANIFEST, or the rank of a layer of a set. Tables that are not listed
// count as newer than all levels.
func (l TableFile) level() int {
	if l.Line != nil {
		return l.rank
	}
	if l.Meta == nil {
		return -1
	}
	return l.Meta.Level
}

// compareNumbers orders files by the number in their names, or else by name.
func compareNumbers(a, b string) int {
	m, aErr := fileNumber(a)
	n, bErr := fileNumber(b)
	if aErr == nil && bErr == nil && m != n {
		return cmp.Compare(m, n)
	}
	return strings.Compare(a, b)
}

func fileNumber(path string) (uint64, error) {
	base := filepath.Base(path)
	return strconv.ParseUint(strings.TrimSuffix(base, filepath.Ext(base)), 10, 64)
}

// MissingError says which tables do not exist, or is nil.
func (d *Dir) MissingError() error {
	if len(d.Missing) == 0 {
		return nil
	}
	first := filepath.Base(d.Missing[0].Path)
	by := filepath.Base(d.Set)
	if d.Set == "" {
		by = "the MANIFEST"
	}
	if n := len(d.Missing); n > 1 {
		return corruption(fmt.Sprintf("%s: %d tables that %s lists do not exist, the first is %s", d.Path, n, by, first))
	}
	return corruption(fmt.Sprintf("%s: table %s, which %s lists, does not exist", d.Path, first, by))
}

// MissingNote says which tables do not exist and are not named by an error, or is "".
func (s *Source) MissingNote(err error) string {
	lacks := s.dir
	if err != nil {
		message := err.Error()
		lacks.Missing = slices.DeleteFunc(slices.Clone(lacks.Missing), func(l TableFile) bool { return strings.Contains(message, l.Path+": ") })
	}
	return strings.Join(text.Lines(lacks.MissingError()), "")
}

// A MissingTable is the error for a table of a database that does not exist. It is damage.
type MissingTable struct{ by *versions.Version }

func (m *MissingTable) Error() string { return "missing (" + m.listed() + ")" }

// listed says what lists the table.
func (m *MissingTable) listed() string {
	if m.by.Torn > 0 {
		return "listed in " + m.by.Manifest + ", of which the end was cut off, so that the table may be obsolete"
	}
	return "listed in " + m.by.Manifest
}

// Is reports whether target is table.ErrCorrupt.
func (*MissingTable) Is(target error) bool { return target == table.ErrCorrupt }

// Open opens the table. A missing one is damage.
func (l TableFile) Open(o Options) (*File, error) {
	switch {
	case !l.Missing:
		return Open(l.Path, l.Options(o))
	case l.Line != nil:
		return nil, &FileError{l.Path, corruption("missing, though the manifest of the set lists it: put it back, or build the set again")}
	}
	return nil, &FileError{l.Path, &MissingTable{l.by}}
}
