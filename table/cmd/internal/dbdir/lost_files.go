package dbdir

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// findLost adds to d the unlisted tables that the MANIFEST does not mark obsolete, and returns the others. A
// damaged MANIFEST may have lost the edits that list them. Beside a sound one, they are spare: see isNeeded in
// package source. If the MANIFEST is damaged, obsolete tables are added, too, for their deletions.
func (d *Dir) findLost(unlisted []File) (others []File) {
	h, err := versions.ReadHistory(d.Path, d.Version.Manifest)
	if err != nil {
		d.note("%v: tables that it does not list are skipped", err)
		return unlisted
	}
	var lost []File
	for _, l := range unlisted {
		isOther := !l.HasEngineName() || d.Version.Lists(l.number)
		if !isOther && !h.IsObsoleteTable(l.number) {
			l.Lost, l.Spare = true, d.IsOrdered()
			lost = append(lost, l)
			continue
		}
		others = append(others, l)
		if !isOther && !d.IsOrdered() {
			l.Obsolete = true
			d.Tables = append(d.Tables, l)
		}
	}
	switch {
	case len(lost) > 0 && d.IsOrdered():
		d.note("%s: reading %s, which %s neither lists nor marks obsolete, only for lost keys", d.Path, firstNames("table", lost), d.Version.Manifest)
	case len(lost) > 0:
		d.note("%s: also reading %s, which %s neither lists nor marks obsolete", d.Path, firstNames("table", lost), d.Version.Manifest)
		d.Doubt = true
	}
	d.Tables = append(d.Tables, lost...)
	return others
}

// IsOrdered reports whether there is a MANIFEST, and no sign that edits of it are lost: live logs are newer than
// level 0, which is newer than level 1, …
func (d *Dir) IsOrdered() bool {
	return d.Version != nil && !d.Doubt && d.Version.Torn == 0 && d.Version.Unread == 0
}

// leaveOutObsolete applies the sound edits of the newest MANIFEST, if it is damaged: it removes obsolete logs, and
// marks obsolete tables, of which only the deletions count. These must not be lost: compactions drop them along
// with the deleted entries, but other tables with these entries may be read again, if the edits that made them
// obsolete are lost.
func (d *Dir) leaveOutObsolete() {
	h := d.history
	if h == nil {
		return
	}
	var obsolete []File
	for i := range d.Tables {
		if l := &d.Tables[i]; l.numbered && h.IsObsoleteTable(l.number) {
			l.Obsolete, obsolete = true, append(obsolete, *l)
		}
	}
	d.Logs = slices.DeleteFunc(d.Logs, func(l File) bool {
		isObsolete := l.numbered && h.IsObsoleteLog(l.number)
		if isObsolete {
			obsolete = append(obsolete, l)
		}
		return isObsolete
	})
	if len(obsolete) > 0 {
		d.note("%s: skipped %s, which %s marks obsolete, but not the deletions there (--all-tables reads all tables)", d.Path, firstNames("table", obsolete), h.Manifest)
	}
}

// findMissing adds the tables that sound edits of the newest MANIFEST list, if it is damaged, and that are not
// among the names.
func (d *Dir) findMissing(names []string) {
	if d.history == nil {
		return
	}
	known := map[uint64]bool{}
	for _, l := range d.Tables { // including missing ones that an older MANIFEST lists
		if l.HasEngineName() {
			known[l.number] = true
		}
	}
	for _, name := range names {
		if l := numbered(name); versions.IsTableName(name) && l.HasEngineName() && !files.IsDir(filepath.Join(d.Path, name)) {
			known[l.number] = true
		}
	}
	listed := MissingTable{d.history.Manifest, "damaged"}
	for _, t := range d.history.Tables() {
		if !known[t.Number] {
			d.Tables = append(d.Tables, d.missing(t, listed))
		}
	}
}

// loseLog records that a log that the MANIFEST names does not exist. doubt says why it may have had no writes that are
// not in tables, or is "".
func (d *Dir) loseLog(o ListOptions, number uint64, doubt string) {
	if o.NoLogs && !o.Repair {
		return
	}
	d.LostLog = max(d.LostLog, number)
	are := "are lost"
	if doubt != "" {
		are = "may be lost"
	}
	d.addDamage(versions.LogName(number), "missing (named in %s%s): the writes in it %s, and older or deleted versions may appear. Restore it if you can",
		d.Version.Manifest, doubt, are)
}

// leaveOutLogs removes the logs, for ListOptions.NoLogs. For a repair, their writes are lost.
func (d *Dir) leaveOutLogs(o ListOptions) {
	logs := slices.DeleteFunc(d.Logs, File.isEmpty)
	if d.Logs = nil; !o.Repair || len(logs) == 0 {
		return
	}
	d.LostLog = math.MaxUint64
	d.addDamage("", "--no-log skips %s: older or deleted versions may appear", firstNames("log", logs))
}

func (l File) isEmpty() bool { return dbfile.IsEmpty(l.Path) }

// LogsToRead returns the paths of all logs if one of them has writes, or should have writes. Otherwise it returns nil.
func (d *Dir) LogsToRead(o ListOptions) []string {
	after, upTo := d.Logged(o)
	hasWrites := func(l File) bool { return !l.isEmpty() }
	if after < upTo || slices.ContainsFunc(d.Logs, hasWrites) { // an empty log among others may have lost its writes
		return PathsOf(d.Logs)
	}
	return nil
}

// Logged is like Version.Logged. If the numbers are unknown, it returns 0, 0.
func (d *Dir) Logged(o ListOptions) (after, upTo uint64) {
	if d.FirstLog(o).Start == 0 {
		return 0, 0
	}
	return d.Version.Logged()
}

// FirstLog returns the oldest log, which is not read yet. Logs continue from the last sequence number in the
// MANIFEST, which is 0 in a new database.
func (d *Dir) FirstLog(o ListOptions) wal.Log {
	if d.Version == nil || o.AllTables {
		return wal.Log{}
	}
	return wal.Log{Start: d.Version.LastSequence + 1, Stored: d.Version.Stored}
}

// A StateFile is CURRENT, a MANIFEST, the manifest of a set, a log, or another file for which Damage has an error.
type StateFile struct {
	Path   string
	Err    error  // FileErrors; nil if the file is sound
	Remark string // about a sound file
}

// JoinRemarks joins the remarks that are not empty.
func JoinRemarks(remarks ...string) string {
	return strings.Join(slices.DeleteFunc(remarks, func(s string) bool { return s == "" }), ", but ")
}

// StateFiles returns the files that list the tables of a database or a set, and the files for which Damage has an
// error. A directory of only tables has none.
func (d *Dir) StateFiles() (all []StateFile) {
	add := func(path string, err error) { // path may already be in all
		i := slices.IndexFunc(all, func(f StateFile) bool { return f.Path == path })
		if i < 0 {
			i, all = len(all), append(all, StateFile{Path: path})
		}
		if err != nil {
			all[i].Err = errors.Join(all[i].Err, &dbfile.FileError{Path: path, Err: err})
		}
	}
	if v := d.Version; v != nil {
		all = append(all, StateFile{Path: filepath.Join(d.Path, v.Manifest), Remark: JoinRemarks(v.LevelNote(), v.TornNote())})
	}
	if d.Set != "" {
		add(d.Set, nil)
	}
	if d.hasCurrent {
		add(filepath.Join(d.Path, "CURRENT"), nil)
	}
	for _, err := range d.Damage {
		if e := (*dbfile.FileError)(nil); errors.As(err, &e) {
			add(e.Path, e.Err)
		}
	}
	for _, f := range d.Flaws {
		add(filepath.Join(d.Path, f.File), dbfile.Corruption(f.What))
	}
	return all
}

// DirToRepair returns the directory whose tables and logs sst repair can read: dir, or the one in it where LevelDB's
// RepairDB sets files aside. If neither has any, it returns "".
func DirToRepair(dir string) string {
	for _, d := range []string{dir, files.Join(dir, "lost")} {
		names, _ := files.Names(d) // reading the directory has reported the error
		if slices.ContainsFunc(names, func(name string) bool { return versions.IsTableName(name) || versions.IsLogName(name) }) {
			return d
		}
	}
	return ""
}

// hasEngineFiles reports whether the directory contains logs with engine names, or tables with engine names that
// have internal keys or are beside a LOCK or a LOG.
func (d *Dir) hasEngineFiles(o ListOptions) bool {
	if slices.ContainsFunc(d.Logs, File.HasEngineName) {
		return true
	}
	for _, l := range d.Tables {
		if !l.HasEngineName() {
			continue
		}
		if d.hasLock {
			return true
		}
		if f, err := l.Open(o); err == nil { // the first readable one decides
			return f.Close() == nil && f.Internal
		}
	}
	return false
}

// IsDatabase reports whether the directory has files of a database besides tables.
func (d *Dir) IsDatabase() bool {
	return d.Set == "" && d.LostSet == nil && (d.Version != nil || d.hasCurrent || len(d.Damage) > 0 || len(d.Logs) > 0)
}

// checkEngine returns an error if the directory contains another engine's database.
func (d *Dir) checkEngine(names []string) error {
	options, isDatabase := "", false
	for _, name := range names {
		switch {
		case name == "IDENTITY", strings.HasPrefix(name, "OPTIONS-"):
			options = max(options, name)
		case versions.IsCurrentOrManifest(name), strings.HasPrefix(name, "marker.manifest."):
			isDatabase = true
		}
	}
	switch {
	case options == "":
		return d.checkLogs()
	case !isDatabase:
		return nil
	}
	engine, reader := "RocksDB", "ldb --db=%s scan"
	if start, _ := dbfile.ReadStart(filepath.Join(d.Path, options)); bytes.Contains(start, []byte("pebble_version")) {
		engine, reader = "Pebble", "pebble db scan %s"
	}
	return fmt.Errorf("%s is a %s database (it contains %s), not a LevelDB database: read it with %s",
		d.Path, engine, options, fmt.Sprintf(reader, format.ShellPath(d.Path)))
}

// checkLogs is like checkEngine, for a directory without an OPTIONS file. Its logs may be in the Pebble format.
func (d *Dir) checkLogs() error {
	for _, l := range d.Logs {
		start, _ := dbfile.ReadStart(l.Path) // the next read returns the error
		if wal.StartsWithPebbleFragment(start) {
			return &dbfile.FileError{Path: l.Path, Err: fmt.Errorf("%s, not a LevelDB log: read it with pebble wal dump %s", dbfile.PebbleLog, format.ShellPath(l.Path))}
		}
	}
	return nil
}
