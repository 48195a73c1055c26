package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// A Dir lists the files of a directory.
type Dir struct {
	Path    string
	Version *database.Version // nil: no MANIFEST can be read
	Set     string            // the manifest of a set, which then has Tables in the order of keys; "": no set
	Missing []TableFile       // tables of the MANIFEST or of the set that do not exist
	Order   Order             // the order that the MANIFEST names
	Tables  []TableFile       // the newest first, by level and name
	Logs    []string          // paths of the live logs, or of all logs, the oldest first
	Notes   []string          // what is not read, for messages
	Damage  []error           // what is wrong, other than Missing
}

// A TableFile is a table in a directory.
type TableFile struct {
	Path string
	Meta *database.Table // its entry in the MANIFEST; nil: it is not listed

	Line    *set.Table // its line in the manifest of its set; nil: there is no set
	Missing bool       // the file does not exist
}

// ListDir lists the tables and logs of a directory. If the directory has a MANIFEST, it
// lists only the tables and logs of the MANIFEST, unless o asks for all. If it has the manifest
// of a set, or dir is that file, it lists the tables of the set.
//
// While a database is in use, files can change between reading the MANIFEST and the
// directory. So ListDir tries again if something seems to be missing, until the same is missing
// twice.
func ListDir(dir string, o Options) (Dir, error) {
	return listUntilSame(func() (Dir, error) { return listDir(dir, o) })
}

// listUntilSame calls list until nothing is missing or damaged, or the same as the time before.
func listUntilSame(list func() (Dir, error)) (d Dir, err error) {
	var before []string
	for range maxTries {
		d, err = list()
		lacks := d.lacks()
		if err != nil || lacks == nil || slices.Equal(lacks, before) {
			break
		}
		before = lacks
	}
	return d, err
}

// lacks names what is missing or damaged.
func (d *Dir) lacks() (all []string) {
	for _, err := range d.Damage {
		all = append(all, err.Error())
	}
	for _, l := range d.Missing {
		all = append(all, l.Path)
	}
	return all
}

func listDir(dir string, o Options) (Dir, error) {
	if manifest := setManifestOf(dir); manifest != "" && (manifest == dir || !o.AllTables) {
		return listSet(dir, manifest, o)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Dir{}, err
	}
	d := Dir{Path: dir, Order: Order{skipManifest: true}}
	if pid := database.LockHolder(dir); pid != 0 {
		d.note("%s is open in process %d, which may change it while it is read", dir, pid)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case isTableName(path):
			d.Tables = append(d.Tables, TableFile{Path: path})
		case database.LogName.MatchString(e.Name()):
			d.Logs = append(d.Logs, path)
		case database.IsCurrentOrManifest(e.Name()):
			if err := o.Outputs.CheckAll([]string{path}); err != nil {
				return Dir{}, err
			}
		}
	}
	d.readVersion(entries)
	if d.Version != nil {
		d.applyManifest(o)
	}
	if len(d.Tables) == 0 && d.Version == nil && (len(d.Logs) == 0 || o.NoLogs) {
		return Dir{}, fmt.Errorf("%s: a directory without .ldb and .sst files", dir)
	}
	slices.SortStableFunc(d.Tables, compareNewestFirst)
	slices.SortStableFunc(d.Logs, compareNumbers)
	if o.NoLogs {
		d.Logs = nil
	}
	return d, nil
}

// isTableName reports whether a file has an extension of tables.
func isTableName(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".ldb" || ext == ".sst"
}

func (d *Dir) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// addDamage adds damage of the database.
func (d *Dir) addDamage(format string, args ...any) {
	d.Damage = append(d.Damage, corruption(fmt.Sprintf(format, args...)))
}

// readVersion reads the MANIFEST that CURRENT names or, if that fails, the newest readable
// MANIFEST.
func (d *Dir) readVersion(entries []fs.DirEntry) {
	v, err := database.Read(d.Path)
	if d.Version = v; err == nil {
		return
	}
	none := errors.Is(err, fs.ErrNotExist)
	for _, e := range slices.Backward(entries) { // names sort by number, because all have the same number of digits
		if !database.ManifestName.MatchString(e.Name()) {
			continue
		}
		if none {
			err, none = fmt.Errorf("%s does not exist", filepath.Join(d.Path, "CURRENT")), false
		}
		if v, _ := database.ReadManifest(d.Path, e.Name()); v != nil {
			d.addDamage("%v: reading %s instead", err, filepath.Join(d.Path, e.Name()))
			d.Version = v
			return
		}
	}
	switch {
	case none && len(d.Logs) > 0:
		d.note("%s has no MANIFEST: reading all tables and logs", d.Path)
	case !none:
		d.addDamage("%v: reading all tables of the directory, of which some may be obsolete, so older and deleted versions may show", err)
	}
}

// applyManifest keeps the tables and logs that the MANIFEST lists, or all of them.
func (d *Dir) applyManifest(o Options) {
	v := d.Version
	d.Order = manifestOrder(v)
	missing := map[uint64]*database.Table{}
	for i := range v.Tables {
		missing[v.Tables[i].Number] = &v.Tables[i]
	}
	var listed []TableFile
	var unlisted []string
	for _, l := range d.Tables {
		n, err := fileNumber(l.Path)
		name := filepath.Base(l.Path)
		if err == nil && name == fmt.Sprintf("%06d%s", n, filepath.Ext(name)) { // the name that engines use
			l.Meta = missing[n]
			delete(missing, n)
		}
		if l.Meta == nil {
			unlisted = append(unlisted, name)
		}
		if l.Meta != nil || o.AllTables {
			listed = append(listed, l)
		}
	}
	d.Tables = listed
	for _, n := range slices.Sorted(maps.Keys(missing)) {
		d.Missing = append(d.Missing, TableFile{Path: filepath.Join(d.Path, fmt.Sprintf("%06d.ldb", n)), Meta: missing[n], Missing: true})
	}
	if len(unlisted) > 0 && !o.AllTables {
		d.note("%s: skipped %s, which the MANIFEST does not list: to read all tables, use --all-tables", d.Path, firstNames(unlisted))
	}
	d.applyToLogs(o)
}

// applyToLogs keeps the logs that may have writes that are in no table, or all of them. Engines
// create a log before they name it in the MANIFEST, so one that does not exist is lost.
func (d *Dir) applyToLogs(o Options) {
	v := d.Version
	if v.Torn > 0 {
		d.note("%s: %s at its end are a change of the tables that was cut short, and are ignored: the engine was ended while it wrote them, or the file was cut, and then what it lists may be out of date",
			filepath.Join(d.Path, v.Manifest), text.Plain(uint64(v.Torn), "byte"))
	}
	if v.Unread > 0 {
		d.addDamage("%s: %s behind a header of zeros are not read, as engines do not read them: if changes are lost, older and deleted versions may show",
			filepath.Join(d.Path, v.Manifest), text.Plain(uint64(v.Unread), "byte"))
	}
	there := map[uint64]bool{}
	d.Logs = slices.DeleteFunc(d.Logs, func(path string) bool {
		n, err := fileNumber(path)
		there[n] = there[n] || err == nil
		return !o.AllTables && (err != nil || !v.Live(n))
	})
	for _, n := range v.Logs() {
		if !there[n] && !o.NoLogs {
			d.addDamage("%s: log %06d, which %s names, does not exist: writes that it had are lost, so older and deleted versions may show: put it back, or use --no-log", d.Path, n, v.Manifest)
		}
	}
}

// LogStart returns Log.Start of the oldest log. A database counts on from the last sequence number
// in its MANIFEST, which is 0 in a new one.
func (d *Dir) LogStart(o Options) uint64 {
	if d.Version == nil || o.AllTables {
		return 0
	}
	return d.Version.LastSequence + 1
}

// maxNames is how many names of tables a note has.
const maxNames = 3

// firstNames returns the names of tables, or their number and the first names. It sorts names.
func firstNames(names []string) string {
	slices.Sort(names)
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s (%s, …)", text.Count(uint64(len(names)), "table"), strings.Join(names[:maxNames], ", "))
}

// All returns all tables, also those that are missing: of a set in the order of keys, else the
// newest first.
func (d *Dir) All() []TableFile {
	all, order := slices.Concat(d.Tables, d.Missing), compareNewestFirst
	if d.Set != "" {
		order = func(a, b TableFile) int { return bytes.Compare(a.Line.Smallest, b.Line.Smallest) }
	}
	slices.SortStableFunc(all, order)
	return all
}

// compareNewestFirst orders tables by level, and then by number, the highest first. Tables
// without a number are ordered by name, the last first.
func compareNewestFirst(a, b TableFile) int {
	return cmp.Or(cmp.Compare(a.level(), b.level()), compareNumbers(b.Path, a.Path))
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
	o.InManifest, o.Size = l.Meta != nil && o.InternalKeys != No, l.manifestSize()
	if o.Line = l.Line; l.Line != nil {
		o.InternalKeys = No
	}
	return o
}

// level returns the level in the MANIFEST. Tables that are not listed count as newer than
// all levels.
func (l TableFile) level() int {
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
