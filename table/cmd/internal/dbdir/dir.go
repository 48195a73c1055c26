// Package dbdir lists the files of databases and sets: which tables and logs count, and what is missing or damaged.
package dbdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// ListOptions say which files of a directory to list, and how to open them.
type ListOptions struct {
	dbfile.Options
	AllTables bool // also list tables and logs that the MANIFEST does not list
	NoLogs    bool // leave out the logs
	Repair    bool // list tables of a database that its MANIFEST has lost too: see findLost. No MANIFEST is damage
}

// A Dir lists the files of a directory.
type Dir struct {
	Path    string
	Version *versions.Version // nil: no MANIFEST can be read
	Set     string            // the manifest of a set; "": no set
	Layers  int               // how many the set has above its base
	Missing []TableFile       // those of Tables that do not exist
	Order   dbfile.Order      // the order that the MANIFEST names
	Tables  []TableFile       // the newest first, by layer or by level and name; those of a set by key
	Logs    []string          // paths of the live logs, or of all logs, the oldest first
	Notes   []string          // what is not read, for messages
	Damage  []error           // what is wrong, other than Missing and Flaws: FileErrors

	// Flaws are what engines would not write into CURRENT and the MANIFEST that is read. Tables and logs can be
	// read all the same.
	Flaws []versions.Flaw

	hasCurrent bool              // there is a CURRENT
	history    *versions.History // of the newest MANIFEST, if not all of it can be read

	// Which entries can be the newest of their keys for certain, before any table or log is read.
	Doubt    bool     // none is: tables or logs that are current may not be known
	Ordered  bool     // the MANIFEST is sound, so that the live logs are newer than level 0, and that than level 1, …
	LiveLogs []string // paths; of other logs, what is written may be obsolete
	LostLog  uint64   // the highest number of the live logs that are not read; 0: all are
}

func listDir(dir string, o ListOptions) (Dir, error) {
	if manifest := setManifestOf(dir); manifest != "" && (manifest == dir || !o.AllTables) {
		return listSet(dir, manifest, o)
	}
	names, err := files.Names(dir)
	if err != nil {
		return Dir{}, err
	}
	if err := checkURL(dir, names, o); err != nil {
		return Dir{}, err
	}
	d := Dir{Path: dir, hasCurrent: slices.Contains(names, "CURRENT"), Order: dbfile.Order{SkipManifest: true}, Tables: make([]TableFile, 0, len(names))}
	if pid := versions.LockHolder(dir); pid != 0 {
		d.note("%s is open in process %d, which may change it while it is read", dir, pid)
	}
	for _, name := range names {
		path := files.Join(dir, name)
		_, isLog := versions.LogNumber(name)
		switch {
		case isTableName(path):
			d.Tables = append(d.Tables, numbered(path))
		case isLog:
			d.Logs = append(d.Logs, path)
		case versions.IsCurrentOrManifest(name):
			if err := o.Outputs.CheckAll([]string{path}); err != nil {
				return Dir{}, err
			}
		}
	}
	if err := d.checkEngine(names); err != nil {
		return Dir{}, err
	}
	if d.readVersion(o, names); d.Version != nil {
		d.applyManifest(o, names)
	} else if err := d.checkCurrent(names); err != nil {
		return Dir{}, err
	} else if o.Repair && !o.AllTables {
		d.leaveOutObsolete()
	}
	if len(d.Tables) == 0 && d.Version == nil && (len(d.Logs) == 0 || o.NoLogs) {
		return Dir{}, fmt.Errorf("%s: a directory without .ldb and .sst files", dir)
	}
	slices.SortFunc(d.Tables, compareNewestFirst)
	slices.SortStableFunc(d.Logs, func(a, b string) int { return compareNumbered(numbered(a), numbered(b)) })
	if o.NoLogs {
		d.leaveOutLogs(o)
	}
	d.Ordered = d.Version != nil && d.isWhole()
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

// addDamage adds damage of a file of the database.
func (d *Dir) addDamage(name, format string, args ...any) {
	d.Damage = append(d.Damage, &dbfile.FileError{Path: filepath.Join(d.Path, name), Err: dbfile.Corruption(fmt.Sprintf(format, args...))})
}

// isDamaged reports whether Damage has an error of a file.
func (d *Dir) isDamaged(name string) bool {
	return slices.ContainsFunc(d.Damage, func(err error) bool {
		e := (*dbfile.FileError)(nil)
		return errors.As(err, &e) && e.Path == filepath.Join(d.Path, name)
	})
}

// readVersion reads the MANIFEST that CURRENT names or, if that fails, the newest readable
// MANIFEST.
func (d *Dir) readVersion(o ListOptions, names []string) {
	v, err := versions.Read(d.Path)
	if d.Version = v; err == nil {
		return
	}
	manifests := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !versions.IsManifest(name) })
	slices.SortFunc(manifests, versions.CompareManifests)
	if n := len(manifests); n > 0 {
		d.history, _ = versions.ReadHistory(d.Path, manifests[n-1]) // its damage is told
	}
	if h := d.history; h != nil && h.Comparer != "" {
		d.Order = dbfile.ManifestOrder(h.Comparer)
	}
	file, why := d.whyNoVersion(err)
	for _, name := range slices.Backward(manifests) {
		if v, _ := versions.ReadManifest(d.Path, name); v != nil {
			d.Version = v
			_, noCurrent := versions.Current(d.Path)
			older := ""
			if d.Doubt = len(manifests) > 1 || noCurrent == nil; d.Doubt { // CURRENT may have named another one, or one that is lost
				older = ", which may be out of date, so older and deleted versions may show"
			}
			d.addDamage(file, "%s: reading %s instead%s", why, filepath.Join(d.Path, name), older)
			return
		}
	}
	d.Doubt = true
	const meaning = "reading all tables of the directory, of which some may be obsolete, so older and deleted versions may show"
	switch {
	case d.hasCurrent || len(manifests) > 0:
		d.addDamage(file, "%s: %s", why, meaning)
	case o.Repair:
		d.addDamage("", "no MANIFEST: %s", meaning)
	case len(d.Logs) > 0:
		d.note("%s has no MANIFEST: reading all tables and logs", d.Path)
	}
}

// whyNoVersion returns which file is at fault for an error of reading the MANIFEST that CURRENT names, and why.
func (d *Dir) whyNoVersion(err error) (file, why string) {
	if !d.hasCurrent {
		return "CURRENT", "missing"
	}
	file, why = "CURRENT", err.Error()
	if name, currentErr := versions.Current(d.Path); currentErr == nil {
		file = name
	}
	path := filepath.Join(d.Path, file)
	if _, statErr := os.Stat(path); errors.Is(statErr, fs.ErrNotExist) {
		if current, _ := dbfile.ReadStart(filepath.Join(d.Path, "CURRENT")); !bytes.HasSuffix(current, []byte("\n")) {
			return "CURRENT", fmt.Sprintf("cut short, as it names %s, which does not exist", file)
		}
		return file, "missing (named in CURRENT)"
	}
	return file, strings.TrimPrefix(strings.TrimPrefix(why, path+": "), path+" ")
}

// applyManifest keeps the tables and logs of those names that the MANIFEST lists, or all. It leaves the
// tables in the order of the Version, so that they need no sorting.
func (d *Dir) applyManifest(o ListOptions, names []string) {
	v := d.Version
	d.Order = dbfile.ManifestOrder(v.Comparer)
	var compare func(a, b []byte) int // nil if it is not known
	if c := o.Order.Or(d.Order).Comparer; c != table.AnyOrder {
		compare = table.InternalComparer(c).Compare
	}
	d.Flaws = slices.DeleteFunc(v.Check(compare), func(f versions.Flaw) bool { return d.isDamaged(f.File) }) // which says it
	listed := MissingTable("listed in " + v.Manifest)
	if v.Torn > 0 {
		listed += ", of which the end was cut off, so that the table may be obsolete"
	}
	files := map[uint64]TableFile{} // by number
	var unlisted []TableFile
	for _, t := range v.Tables {
		files[t.Number] = TableFile{Path: filepath.Join(d.Path, fmt.Sprintf("%06d.ldb", t.Number)), Meta: t, Missing: true, listed: listed, number: t.Number, numbered: true}
	}
	slices.SortFunc(d.Tables, func(a, b TableFile) int { return strings.Compare(a.Path, b.Path) }) // engines open .ldb before .sst
	for _, l := range d.Tables {
		if listed := files[l.number]; listed.Missing && l.hasEngineName() {
			l.Meta = listed.Meta
			files[l.number] = l
		} else {
			unlisted = append(unlisted, l)
		}
	}
	d.Tables = d.Tables[:0]
	for _, t := range v.Tables {
		l := files[t.Number]
		if l.Meta != t { // it is listed twice
			continue
		}
		if d.Tables = append(d.Tables, l); l.Missing {
			d.Missing = append(d.Missing, l)
		}
	}
	if o.AllTables {
		d.Tables, unlisted = append(d.Tables, unlisted...), nil
	} else if o.Repair {
		unlisted = d.findLost(unlisted)
	}
	if len(unlisted) > 0 {
		d.note("%s: skipped %s, which the MANIFEST does not list: to read all tables, use --all-tables", d.Path, firstNames(unlisted))
	}
	d.applyToLogs(o, names)
}

// applyToLogs keeps the logs that may have writes that are in no table, or all of them.
func (d *Dir) applyToLogs(o ListOptions, names []string) {
	v := d.Version
	if v.Torn > 0 {
		d.note("%s: %s at its end are a change of the tables that was cut short, and are ignored: the engine was ended while it wrote them, or the file was cut, and then what it lists may be out of date",
			filepath.Join(d.Path, v.Manifest), wire.Plural(uint64(v.Torn), "byte"))
	}
	if v.Unread > 0 {
		d.Doubt = true
		d.addDamage(v.Manifest, "%s behind a header of zeros are not read, as engines do not read them: if changes are lost, older and deleted versions may show",
			wire.Plural(uint64(v.Unread), "byte"))
	}
	live, missing := v.LiveLogs(names)
	for _, name := range live {
		d.LiveLogs = append(d.LiveLogs, filepath.Join(d.Path, name))
	}
	if !o.AllTables {
		d.Logs = slices.Clone(d.LiveLogs)
	}
	for _, n := range missing {
		d.loseLog(o, n)
	}
}

// ListDir lists the tables and logs of a directory. If the directory has a MANIFEST, it
// lists only the tables and logs of the MANIFEST, unless o asks for all. If it has the manifest
// of a set, or dir is that file, it lists the tables of the set.
//
// While a database is in use, files can change between reading the MANIFEST and the
// directory. So ListDir tries again if something seems to be missing, until the same is missing
// twice.
func ListDir(dir string, o ListOptions) (Dir, error) {
	return listUntilSame(func() (Dir, error) { return listDir(dir, o) })
}

// maxTries is how often a directory is listed.
const maxTries = 10

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
