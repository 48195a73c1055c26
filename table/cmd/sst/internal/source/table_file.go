package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
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
	return cmp.Or(cmp.Compare(a.level(), b.level()), compareNumbered(b, a))
}

// compareNumbered orders files by the number in their names, or else by name.
func compareNumbered(a, b TableFile) int {
	if a.numbered && b.numbered && a.number != b.number {
		return cmp.Compare(a.number, b.number)
	}
	return strings.Compare(a.Path, b.Path)
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

func fileNumber(path string) (uint64, error) {
	base := filepath.Base(path)
	return strconv.ParseUint(strings.TrimSuffix(base, filepath.Ext(base)), 10, 64)
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

// A corruption is damage of a database that is not in a table.
type corruption = wal.Corruption

// RepairCommand is the command line that makes a new database of what is left of one in a directory.
func RepairCommand(dir string) string { return "sst repair " + text.ShellPath(dir) + " -o NEW" }

// iq80Excess is how much larger than a table the size is that iq80's Java LevelDB records for it if it
// wrote the table in a compaction: it adds a block that it does not write.
const iq80Excess = 4

// hasIQ80Size reports whether the MANIFEST has the size that iq80's LevelDB gives a table of this size.
func (l TableFile) hasIQ80Size(size int64) bool {
	return l.Meta != nil && uint64(size)+iq80Excess == l.Meta.Size
}

// CheckSize returns an error if the file has another size than a MANIFEST says. what is added to it.
func (l TableFile) CheckSize(size int64, manifest, what string) error {
	if l.Meta == nil || uint64(size) == l.Meta.Size {
		return nil
	}
	if l.hasIQ80Size(size) {
		what = fmt.Sprintf(", which is what iq80's Java LevelDB records of the tables that it compacts: %d bytes too many%s", iq80Excess, what)
	}
	return corruption(fmt.Sprintf("size is %d, want %d as %s says%s", size, l.Meta.Size, manifest, what))
}

// CheckSizeOf is CheckSize of an open table. note says it of a table of iq80's that is whole, as its
// first and its last key show.
func (l TableFile) CheckSizeOf(f *File) (note string, err error) {
	err = l.CheckSize(f.Size, "the MANIFEST", "")
	if err == nil {
		return "", nil
	}
	first, last := f.ends()
	if l.hasIQ80Size(f.Size) && bytes.Equal(first, l.Meta.Smallest) && bytes.Equal(last, l.Meta.Largest) {
		return fmt.Sprintf("%v; the table is whole, but other engines cannot read it", err), nil
	}
	return "", l.CheckSize(f.Size, "the MANIFEST", ", so what is read is another table")
}

// ends returns the first and the last key, as far as they can be read. Otherwise the error comes when they are needed.
func (f *File) ends() (first, last []byte) {
	first, _ = f.Reader.FirstKey()
	last, _ = f.Reader.LastKey()
	return first, last
}

// CheckManifest checks a table against its MANIFEST: its size, and its first and last key. If not all keys are
// known, Verify has reported the damage.
func (f *File) CheckManifest(v *versions.Version, l TableFile, keys *VerifiedKeys) error {
	what := ", so engines cannot read this table" // since they look for the footer where that of the MANIFEST had it
	if l.hasIQ80Size(f.Size) {
		what = ", so other engines cannot read this table"
	}
	errs := []error{l.CheckSize(f.Size, v.Manifest, what)}
	differs := func(what string, has, want []byte) {
		if keys.all && !bytes.Equal(has, want) {
			errs = append(errs, corruption(fmt.Sprintf("%s is %s, want %s as %s says", what, f.Separator(has), f.Separator(want), v.Manifest)))
		}
	}
	differs("first key", keys.first, l.Meta.Smallest)
	differs("last key", keys.last, l.Meta.Largest)
	return errors.Join(errs...)
}

// checkRange returns an error if the first or the last key is outside of the range that the MANIFEST
// gives the table.
func (f *File) checkRange(smallest, largest []byte) error {
	first, last := f.ends()
	if first != nil && f.Compare(first, smallest) < 0 {
		return corruption(fmt.Sprintf("first key is %s, want ≥ %s as the MANIFEST says", f.Separator(first), f.Separator(smallest)))
	}
	if last != nil && f.Compare(last, largest) > 0 {
		return corruption(fmt.Sprintf("last key is %s, want ≤ %s as the MANIFEST says", f.Separator(last), f.Separator(largest)))
	}
	return nil
}

// listing returns what the MANIFEST in a file's directory says, if it lists the file, or else nil. It does not name all
// logs.
func listing(path string) *versions.Version {
	n, err := fileNumber(path)
	if err != nil && !IsLog(path) {
		return nil
	}
	v, err := versions.Read(filepath.Dir(path))
	if err != nil || !IsLog(path) && !v.Lists(n) {
		return nil
	}
	return v
}

// IsInManifest reports whether the MANIFEST in the file's directory lists the file, or it is a log.
func IsInManifest(path string) bool { return listing(path) != nil }

// OutputName returns a free name for a table made from a file, with suffix instead of the
// extension. It is beside the file, but never in the directory of a database: that is for
// the files of its engine. If a file has that name already, it adds the first number ≥ 2 that
// makes the name free.
func OutputName(path, suffix string) string {
	dir := filepath.Dir(path)
	if name, err := versions.FindCurrentOrManifest(dir); name != "" && err == nil {
		path = filepath.Join(dir, "..", filepath.Base(path))
	}
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	name := stem + suffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", stem, n, suffix)
	}
}
