package dbdir

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// findLost adds those of the tables to d that the MANIFEST does not list and does not call obsolete, and
// returns the others. If the MANIFEST is damaged, it can have lost the edits that list them. If it is not, they
// are spare: see isNeeded.
func (d *Dir) findLost(unlisted []TableFile) (others []TableFile) {
	h, err := versions.ReadHistory(d.Path, d.Version.Manifest)
	if err != nil {
		d.note("%v: tables that it does not list are skipped", err)
		return unlisted
	}
	var lost []TableFile
	for _, l := range unlisted {
		isOther := !l.HasEngineName() || d.Version.Lists(l.number)
		if !isOther && !h.IsObsoleteTable(l.number) {
			l.Lost, l.Spare = true, d.isWhole()
			lost = append(lost, l)
			continue
		}
		others = append(others, l)
		if !isOther && !d.isWhole() {
			l.Obsolete = true
			d.Tables = append(d.Tables, l)
		}
	}
	switch {
	case len(lost) > 0 && d.isWhole():
		d.note("%s: reading %s, which %s neither lists nor marks obsolete, only for lost keys", d.Path, firstNames(lost), d.Version.Manifest)
	case len(lost) > 0:
		d.note("%s: also reading %s, which %s neither lists nor marks obsolete", d.Path, firstNames(lost), d.Version.Manifest)
		d.Doubt = true
	}
	d.Tables = append(d.Tables, lost...)
	return others
}

// isWhole reports whether nothing says that edits of the MANIFEST are lost.
func (d *Dir) isWhole() bool {
	return !d.Doubt && d.Version.Torn == 0 && d.Version.Unread == 0
}

// leaveOutObsolete leaves out the logs that the newest MANIFEST, which is damaged, calls obsolete in the edits that can
// be read, and the tables but for their deletions. A compaction drops these with what they have deleted, and other
// tables that had it can be read again, since the edits that call them obsolete are lost.
func (d *Dir) leaveOutObsolete() {
	h := d.history
	if h == nil {
		return
	}
	var obsolete []TableFile
	for i := range d.Tables {
		if l := &d.Tables[i]; l.numbered && h.IsObsoleteTable(l.number) {
			l.Obsolete, obsolete = true, append(obsolete, *l)
		}
	}
	d.Logs = slices.DeleteFunc(d.Logs, func(path string) bool {
		l := numbered(path)
		isObsolete := l.numbered && h.IsObsoleteLog(l.number)
		if isObsolete {
			obsolete = append(obsolete, l)
		}
		return isObsolete
	})
	if len(obsolete) > 0 {
		d.note("%s: skipped %s, which %s marks obsolete, but not the deletions there (--all-tables reads all tables)", d.Path, firstNames(obsolete), h.Manifest)
	}
}

// findMissing adds the tables that the newest MANIFEST, if it is damaged, lists in the edits that can be read, and that
// are not among the names of files.
func (d *Dir) findMissing(names []string) {
	if d.history == nil {
		return
	}
	known := map[uint64]bool{}
	for _, l := range d.Tables { // also those that a MANIFEST lists
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
	for t := range d.history.Tables() {
		if l := d.missing(t, listed); !known[t.Number] {
			d.Tables, d.Missing = append(d.Tables, l), append(d.Missing, l)
		}
	}
}

// loseLog takes note that a log that the MANIFEST names does not exist. If the MANIFEST has a flaw, the log may be
// obsolete.
func (d *Dir) loseLog(o ListOptions, number uint64, flaw string) {
	if o.NoLogs && !o.Repair {
		return
	}
	d.LostLog = max(d.LostLog, number)
	named, are := "named in "+d.Version.Manifest, "are lost"
	if flaw != "" {
		named, are = fmt.Sprintf("%s, which %s: the log may be obsolete", named, flaw), "may be lost"
	}
	d.addDamage(versions.LogName(number), "missing (%s): the writes in it %s, and older or deleted versions may appear. Restore it if you can", named, are)
}

// leaveOutLogs leaves out the logs, as Options.NoLogs asks. For a repair, what they have is lost.
func (d *Dir) leaveOutLogs(o ListOptions) {
	logs := slices.DeleteFunc(d.Logs, dbfile.IsEmpty)
	if d.Logs = nil; !o.Repair || len(logs) == 0 {
		return
	}
	d.LostLog = math.MaxUint64
	var left []TableFile
	for _, path := range logs {
		left = append(left, TableFile{Path: path})
	}
	d.addDamage("", "--no-log skips %s: older or deleted versions may appear", firstNames(left))
}

// LogsToRead returns the logs that have writes, or should have.
func (d *Dir) LogsToRead(o ListOptions) []string {
	after, upTo := d.Logged(o)
	hasWrites := func(path string) bool { return !dbfile.IsEmpty(path) }
	if after < upTo || slices.ContainsFunc(d.Logs, hasWrites) { // an empty one among others can have lost its writes
		return d.Logs
	}
	return nil
}

// Logged is Version.Logged, if that is known.
func (d *Dir) Logged(o ListOptions) (after, upTo uint64) {
	if d.LogStart(o) == 0 {
		return 0, 0
	}
	return d.Version.Logged()
}

// LogStart returns Log.Start of the oldest log. A database counts on from the last sequence number
// in its MANIFEST, which is 0 in a new one.
func (d *Dir) LogStart(o ListOptions) uint64 {
	if d.Version == nil || o.AllTables {
		return 0
	}
	return d.Version.LastSequence + 1
}

// A StateFile is CURRENT, a MANIFEST, or a file that these name and that is missing, other than a table.
type StateFile struct {
	Path   string
	Err    error  // what is wrong with it, FileErrors; nil: it is sound
	Remark string // about a sound one
}

// StateFiles returns the files that say what a database or a set has, and those for which Damage has an error. A
// directory of tables has none.
func (d *Dir) StateFiles() (all []StateFile) {
	add := func(path string, err error) { // which may be among all
		i := slices.IndexFunc(all, func(f StateFile) bool { return f.Path == path })
		if i < 0 {
			i, all = len(all), append(all, StateFile{Path: path})
		}
		if err != nil {
			all[i].Err = errors.Join(all[i].Err, &dbfile.FileError{Path: path, Err: err})
		}
	}
	if v := d.Version; v != nil {
		remarks := slices.DeleteFunc([]string{v.LevelNote(), v.TornNote()}, func(s string) bool { return s == "" })
		all = append(all, StateFile{Path: filepath.Join(d.Path, v.Manifest), Remark: strings.Join(remarks, ", but ")})
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

// hasEngineFiles reports whether the directory has logs with names of engines, or tables with such names that have
// internal keys or are beside a LOCK or a LOG.
func (d *Dir) hasEngineFiles(o ListOptions) bool {
	isLog := func(path string) bool { return numbered(path).HasEngineName() }
	if slices.ContainsFunc(d.Logs, isLog) {
		return true
	}
	for _, l := range d.Tables {
		if !l.HasEngineName() {
			continue
		}
		if d.hasLock {
			return true
		}
		if f, err := l.Open(o); err == nil { // the first one that can be read decides
			return f.Close() == nil && f.Internal
		}
	}
	return false
}

// IsDatabase reports whether the directory has files of a database besides tables.
func (d *Dir) IsDatabase() bool {
	return d.Set == "" && !d.lostSet && (d.Version != nil || d.hasCurrent || len(d.Damage) > 0 || len(d.Logs) > 0)
}

// checkCurrent returns an error if CURRENT or the MANIFESTs of a directory are stand-ins.
func (d *Dir) checkCurrent(names []string) error {
	for _, name := range slices.Sorted(slices.Values(names)) {
		if !versions.IsCurrentOrManifest(name) {
			continue
		}
		path := filepath.Join(d.Path, name)
		start, err := dbfile.ReadStart(path)
		if s, found := dbfile.StandInOf(path, start, err); found {
			return &dbfile.FileError{Path: path, Err: fmt.Errorf("%s, so the database cannot be read: %s", s.What, s.Next)}
		}
	}
	return nil
}

// checkEngine returns an error for the directory of another engine's database.
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
		d.Path, engine, options, fmt.Sprintf(reader, text.ShellPath(d.Path)))
}

// checkLogs is checkEngine for a directory without OPTIONS: its logs can show that it is Pebble's.
func (d *Dir) checkLogs() error {
	for _, path := range d.Logs {
		start, _ := dbfile.ReadStart(path) // what reads it next returns the error
		if wal.StartsWithPebbleFragment(start) {
			return &dbfile.FileError{Path: path, Err: fmt.Errorf("%s, not a LevelDB log: read it with pebble wal dump %s", dbfile.PebbleLog, text.ShellPath(path))}
		}
	}
	return nil
}
