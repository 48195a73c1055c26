package dbdir

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// A File is a table or a log in a directory.
type File struct {
	Path string
	Meta *versions.Table // its entry in the MANIFEST; nil if it is not listed

	Line     *set.Table // its line in the manifest of its set; nil if there is no set
	InSet    string     // the path of the set
	Layer    int        // number of its layer in the set, 1 for the oldest; 0 if it is in none
	Removals bool       // its keys are removed from older layers
	Missing  bool       // the file does not exist
	Lost     bool       // the MANIFEST may have lost it: see findLost
	Spare    bool       // it is Lost, but there is no sign that the MANIFEST has lost edits
	Obsolete bool       // only its deletions count: see leaveOutObsolete

	listed   MissingTable // the error, if it is Missing
	number   uint64       // number in its name
	numbered bool         // its name has a number
}

// numbered returns the File of a path, with the number in its name.
func numbered(path string) File {
	n, err := versions.FileNumber(path)
	return File{Path: path, number: n, numbered: err == nil}
}

// HasEngineName reports whether the file is named as by an engine: by a number of at least 6 digits.
func (l File) HasEngineName() bool {
	name := filepath.Base(l.Path)
	return l.numbered && name == fmt.Sprintf("%06d%s", l.number, filepath.Ext(name))
}

// compareNewestFirst orders tables by level, and then by number, the highest first. Within a level, tables
// without a number come first, in descending order of their names.
func compareNewestFirst(a, b File) int {
	return cmp.Or(cmp.Compare(a.Level(), b.Level()), compareNumbered(b, a))
}

// compareNumbered orders files by the numbers in their names. Files without numbers come last, ordered by name.
func compareNumbered(a, b File) int {
	switch byName := strings.Compare(a.Path, b.Path); {
	case a.numbered && b.numbered:
		return cmp.Or(cmp.Compare(a.number, b.number), byName)
	case a.numbered:
		return -1
	case b.numbered:
		return 1
	default:
		return byName
	}
}

// FileOptions returns the options for opening the table.
func (l File) FileOptions(o ListOptions) dbfile.Options {
	f := o.Options
	f.Meta, f.Line, f.Set, f.Numbered, f.AnyKind = l.Meta, l.Line, l.InSet, l.HasEngineName(), o.Repair
	if l.Line != nil {
		f.InternalKeys = dbfile.No
	}
	return f
}

// Level returns the level in the MANIFEST. For a set, it returns a level that is lower the newer the layer is.
// Unlisted tables count as newer than all levels.
func (l File) Level() int {
	switch {
	case l.Removals:
		return 1 - 2*l.Layer
	case l.Line != nil:
		return -2 * l.Layer
	case l.Meta == nil:
		return -1
	}
	return l.Meta.Level
}

// maxNames is the maximum number of names in a note.
const maxNames = 3

// firstNames lists the names of files of a kind. If there are many, it returns their number and the first names.
func firstNames(kind string, all []File) string {
	names := PathsOf(all)
	for i, path := range names {
		names[i] = filepath.Base(path)
	}
	slices.Sort(names)
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s (%s, …)", text.Count(uint64(len(names)), kind), strings.Join(names[:maxNames], ", "))
}

// PathsOf returns the paths of files.
func PathsOf(all []File) (paths []string) {
	for _, l := range all {
		paths = append(paths, l.Path)
	}
	return paths
}

// MissingError returns an error that names all missing tables, or nil.
func (d *Dir) MissingError() error {
	missing := map[string][]File{} // by reason
	for _, l := range d.Tables {
		if l.Missing {
			why := l.listed.Reason()
			missing[why] = append(missing[why], l)
		}
	}
	var all []error
	for _, why := range slices.Sorted(maps.Keys(missing)) {
		what := fmt.Sprintf("missing %s (%s)", firstNames("table", missing[why]), why)
		if d.Set != "" {
			what += restoreOrBuild
		}
		all = append(all, &dbfile.FileError{Path: d.Path, Err: dbfile.Corruption(what)})
	}
	return errors.Join(all...)
}

// missing returns a table in a MANIFEST as a missing one.
func (d *Dir) missing(t *versions.Table, listed MissingTable) File {
	path := filepath.Join(d.Path, versions.TableName(t.Number))
	return File{Path: path, Meta: t, Missing: true, listed: listed, number: t.Number, numbered: true}
}

// A MissingTable is the error for a table that does not exist. It counts as damage.
type MissingTable struct {
	Manifest string // name of the manifest that lists the table
	Flaw     string // if not "", what is wrong with the manifest: the table may be obsolete
}

// Reason says which manifest lists the table.
func (m MissingTable) Reason() string {
	if m.Flaw != "" {
		return fmt.Sprintf("listed in %s, which is %s: the table may be obsolete", m.Manifest, m.Flaw)
	}
	return "listed in " + m.Manifest
}

func (m MissingTable) Error() string { return "missing (" + m.Reason() + ")" }

// Is reports whether target is table.ErrCorrupt.
func (MissingTable) Is(target error) bool { return target == table.ErrCorrupt }

// Open opens the table. A missing table is damage.
func (l File) Open(o ListOptions) (*dbfile.File, error) {
	switch {
	case !l.Missing:
		return dbfile.Open(l.Path, l.FileOptions(o))
	case l.Line != nil:
		return nil, &dbfile.FileError{Path: l.Path, Err: dbfile.Corruption("missing, though listed in the set's manifest" + restoreOrBuild)}
	}
	return nil, &dbfile.FileError{Path: l.Path, Err: l.listed}
}

// restoreOrBuild says what to do about a file that a set lacks.
const restoreOrBuild = ": restore it, or build the set again"

// IsDirectory reports whether a path stands for many files: a directory, or the manifest of a
// set.
func IsDirectory(path string) bool {
	return files.IsDir(path) || isSetManifest(path)
}

// isSetManifest reports whether a file starts like the manifest of a set, or has the name of one.
func isSetManifest(path string) bool {
	if info, err := files.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // opening a pipe would consume its contents
	}
	start, err := dbfile.ReadStart(path)
	return err == nil && (hasFirstLine(start, "{", `"sievetable-set"`) || filepath.Base(path) == set.ManifestName) && !dbfile.IsTable(path)
}

// hasFirstLine reports whether the first line of text starts with begin, and contains part.
func hasFirstLine(text []byte, begin, part string) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.HasPrefix(line, []byte(begin)) && bytes.Contains(line, []byte(part))
}

// setManifestOf returns path if it is the manifest of a set, the manifest in the directory path, or "". The
// directory of a database is not a set.
func setManifestOf(path string) string {
	if isSetManifest(path) {
		return path
	}
	name := files.Join(path, set.ManifestName)
	if !files.Exists(name) {
		return ""
	}
	if engine, _ := versions.FindCurrentOrManifest(path); engine != "" {
		return ""
	}
	return name
}

// IsSet reports whether a path is the manifest or the directory of a set.
func IsSet(path string) bool { return setManifestOf(path) != "" }

// ReadSetManifest reads the manifest of a set.
func ReadSetManifest(path string, o ListOptions) (*set.Manifest, error) {
	f, err := dbfile.OpenRegular(path, o.Outputs)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := set.ReadManifest(io.NewSectionReader(f.Src, 0, f.Size))
	if err == nil || errors.As(err, new(*fs.PathError)) || errors.Is(err, errors.ErrUnsupported) { // a newer version is not damage
		return m, f.Wrap(err)
	}
	what := err.Error()
	if end, err := dbfile.ReadAt(f.Src, max(0, f.Size-1), min(1, f.Size)); err == nil && len(end) == 1 && end[0] != '\n' {
		what = "cut short, as it ends within a line: " + what
	}
	return nil, f.Wrap(dbfile.Corruption(what))
}

// listSet lists the tables of a set, in the order of their keys. They are in the directory of the manifest.
func listSet(path, manifest string, o ListOptions) (Dir, error) {
	if o.InternalKeys == dbfile.Yes || cmp.Or(o.Order.Comparer, table.BytewiseComparer).Name() != table.BytewiseComparer.Name() {
		return Dir{}, fmt.Errorf("%s is a set, to which --internal-keys and --comparator do not apply: leave them out", path)
	}
	m, err := ReadSetManifest(manifest, o)
	if err != nil {
		return Dir{}, err
	}
	dir := files.Dir(manifest)
	names, err := files.Names(dir)
	if err != nil {
		return Dir{}, err
	}
	d := Dir{Path: path, Set: manifest, Layers: len(m.Layers), Order: dbfile.ExplicitOrder(table.BytewiseComparer)}
	unlisted := map[string]bool{} // for each existing name
	for _, name := range names {
		unlisted[name] = versions.IsTableName(name)
	}
	for _, t := range tablesOfSet(dir, m) {
		t.InSet = path
		if _, isThere := unlisted[t.Line.Name]; isThere {
			unlisted[t.Line.Name] = false
		} else {
			t.Missing, t.listed = true, MissingTable{Manifest: filepath.Base(manifest)}
		}
		d.Tables = append(d.Tables, t)
	}
	maps.DeleteFunc(unlisted, func(_ string, is bool) bool { return !is })
	if n := len(unlisted); n > 0 && path != manifest {
		d.note("%s: skipped %s that %s does not list: to list them, run: %s", d.Path, text.Count(uint64(n), "table"),
			filepath.Base(d.Set), files.CommandLine("sweep --age 0s %s", d.Path))
	}
	return d, nil
}

// tablesOfSet returns the tables of a set: the newest layer first, and each layer in the order of its keys.
func tablesOfSet(dir string, m *set.Manifest) (all []File) {
	add := func(tables []set.Table, layer int, removals bool) {
		for i := range tables {
			t := &tables[i]
			all = append(all, File{Path: files.Join(dir, t.Name), Line: t, Layer: layer, Removals: removals})
		}
	}
	for i, l := range slices.Backward(m.Layers) {
		add(l.Tables, i+1, false)
		add(l.Removals, i+1, true)
	}
	add(m.Tables, 0, false)
	return all
}
