// Package dbdir lists the files of databases and sets: the tables and logs that count, and the missing and
// damaged files.
package dbdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/set"
)

// ListOptions describes which files of a directory to list, and how to open them.
type ListOptions struct {
	dbfile.Options
	AllTables bool // also list tables and logs that the MANIFEST does not list
	NoLogs    bool // leave out the logs
	Repair    bool // also list tables that the MANIFEST may have lost: see findLost. A missing MANIFEST is damage
}

// A Dir lists the files of a directory.
type Dir struct {
	Path    string
	Version *versions.Version // nil if no MANIFEST can be read
	Set     string            // path of the manifest of a set; "" if there is none
	Layers  int               // number of layers above the base of the set
	Order   dbfile.Order      // the order that the MANIFEST names
	Tables  []File            // the newest first: by level and number, or by layer and key
	Logs    []File            // the live logs, or all logs, the oldest first
	Notes   []string          // notes for the user, for example about skipped files
	Damage  []error           // FileErrors for damage other than missing tables and Flaws
	LostSet error             // a FileError if tables have names as in a set, but no manifest was read; part of Damage unless AllTables is set

	// Flaws are things in CURRENT and the MANIFEST that engines do not write. Tables and logs can still be read.
	Flaws []versions.Flaw

	info       fs.FileInfo       // of the directory; nil: a file or a URL, or it is not known
	hasCurrent bool              // there is a CURRENT
	hasLock    bool              // there is a LOCK or a LOG
	history    *versions.History // of the newest MANIFEST, if it is damaged
	lacking    []string          // all names in the directory if it lacks a live log: see lacks

	// Which entries are certain to be the newest of their keys, as known before any table or log is read.
	Doubt    bool     // none: current tables or logs may be unknown
	LiveLogs []string // paths; writes in other logs may be obsolete
	LostLog  uint64   // highest number of the live logs that are not read; 0 if all are
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
	d := Dir{Path: dir, hasCurrent: slices.Contains(names, "CURRENT"), Order: dbfile.Order{SkipManifest: true}, Tables: make([]File, 0, len(names))}
	d.hasLock = slices.Contains(names, "LOCK") || slices.Contains(names, "LOG")
	if pid := versions.LockHolder(dir); pid != 0 {
		d.note("%s is open in process %d, which may change it during the read", dir, pid)
	}
	aside := setAside(dir, names)
	if o.Repair && aside != "" {
		d.note("%s", aside)
	}
	if err := d.setFiles(o, names); err != nil {
		return Dir{}, err
	}
	if err := d.checkEngine(names); err != nil {
		return Dir{}, err
	}
	if err := d.applyState(o, names); err != nil {
		return Dir{}, err
	}
	switch isEmpty := len(d.Tables) == 0 && d.Version == nil; {
	case isEmpty && len(d.Logs) > 0 && o.NoLogs:
		return Dir{}, fmt.Errorf("%s: only logs in this directory: leave out --no-log", dir)
	case isEmpty && len(d.Logs) == 0 && (d.Damage == nil || o.Repair):
		return Dir{}, errors.New(JoinRemarks(dir+": no .ldb or .sst files in this directory", aside))
	}
	slices.SortFunc(d.Tables, compareNewestFirst)
	slices.SortFunc(d.Logs, compareNumbered)
	if o.NoLogs {
		d.leaveOutLogs(o)
	}
	return d, nil
}

// setAside describes the files that LevelDB's RepairDB set aside. It returns "" if names, those in dir, show none.
func setAside(dir string, names []string) string {
	lost := files.Join(dir, "lost")
	if !slices.Contains(names, "lost") || !files.IsDir(lost) {
		return ""
	}
	return fmt.Sprintf("%s has files that LevelDB's RepairDB set aside: to save what can be read of them, %s", lost, dbfile.RepairAdvice(lost))
}

// setFiles sets Tables and Logs to those among the names.
func (d *Dir) setFiles(o ListOptions, names []string) error {
	d.Tables, d.Logs = d.Tables[:0], nil
	for _, name := range names {
		path := files.Join(d.Path, name)
		switch {
		case versions.IsTableName(path):
			d.Tables = append(d.Tables, numbered(path))
		case versions.IsLogName(name):
			d.Logs = append(d.Logs, numbered(path))
		case versions.IsCurrentOrManifest(name):
			if err := o.Outputs.CheckAll([]string{path}); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyState reads CURRENT and the MANIFESTs among the names, and keeps the tables and logs that count.
func (d *Dir) applyState(o ListOptions, names []string) error {
	if err := d.readVersion(o, names); err != nil {
		return err
	}
	if d.Version != nil {
		var err error // the names again: while the MANIFEST was read, the engine may have added tables to it
		if names, err = files.Names(d.Path); err == nil {
			err = d.setFiles(o, names)
		}
		if err != nil {
			return err
		}
		d.applyManifest(o, names)
	} else if err := d.checkCurrent(names); err != nil {
		return err
	} else if d.Tables = d.withoutDirs("table", d.Tables); o.Repair && !o.AllTables {
		d.leaveOutObsolete()
	}
	d.findMissing(names)
	return nil
}

func (d *Dir) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// addDamage adds a FileError for a file of the database.
func (d *Dir) addDamage(name, format string, args ...any) {
	d.Damage = append(d.Damage, &dbfile.FileError{Path: filepath.Join(d.Path, name), Err: dbfile.Corruption(fmt.Sprintf(format, args...))})
}

// isDamaged reports whether Damage has an error for a file.
func (d *Dir) isDamaged(name string) bool {
	return slices.ContainsFunc(d.Damage, func(err error) bool {
		e := (*dbfile.FileError)(nil)
		return errors.As(err, &e) && e.Path == filepath.Join(d.Path, name)
	})
}

// ListDir lists the tables and logs of a directory. If the directory contains a MANIFEST, ListDir lists only the
// tables and logs of the MANIFEST, unless AllTables is set. If it contains the manifest of a set, or dir is that
// file, ListDir lists the tables of the set.
//
// While a database is in use, files can change between reading the MANIFEST and the directory. So if something
// seems to be missing, ListDir tries again, until the same is missing twice in a row. It also tries again if another
// directory has taken the name.
func ListDir(dir string, o ListOptions) (Dir, error) {
	return listUntilSame(dir, func() (Dir, error) { return listDir(dir, o) })
}

// IsSame reports whether d and o list the same directory of the file system, as far as that is known.
func (d *Dir) IsSame(o *Dir) bool {
	return d.info == nil || o.info == nil || os.SameFile(d.info, o.info)
}

// WasReplaced reports whether another directory has taken the name of d.
func (d *Dir) WasReplaced() bool {
	info, err := os.Stat(d.Path)
	return err == nil && d.info != nil && !os.SameFile(d.info, info)
}

// maxTries is the maximum number of times that a directory is listed.
const maxTries = 10

// lacks describes everything that is missing or damaged. If a live log is missing, that includes the files that are
// there: goleveldb can remove an empty log without an edit, so two listings can miss the same log of a sound database.
func (d *Dir) lacks() (all []string) {
	for _, err := range d.Damage {
		all = append(all, err.Error())
	}
	for _, l := range d.Tables {
		if l.Missing {
			all = append(all, l.Path)
		}
	}
	return append(all, d.lacking...)
}

// checkURL returns an error if a URL does not lead to a set. A store can contain tables of many sets, so it is
// unknown which of them count without a manifest.
func checkURL(dir string, names []string, o ListOptions) error {
	i := slices.IndexFunc(names, versions.IsCurrentOrManifest)
	switch {
	case !files.IsURL(dir):
		return nil
	case i >= 0:
		return fmt.Errorf("%s is a database (it contains %s): copy it to a local directory, and read the copy", dir, names[i])
	case !o.AllTables:
		return fmt.Errorf("%s: no such manifest: give the URL of a set uploaded by sstcloud put, or of its manifest",
			files.Join(dir, set.ManifestName))
	}
	return nil
}

// listUntilSame calls list until nothing is missing or damaged, or the same is twice in a row, and dir is still the
// same directory. Between calls it keeps only what the last Dir lacks, since a Dir can be large.
func listUntilSame(dir string, list func() (Dir, error)) (Dir, error) {
	var before []string
	for try := 1; ; try++ {
		listed := Dir{Path: dir} // known even if list fails
		if info, err := regular.Identify(dir); err == nil && info.IsDir() {
			listed.info = info
		}
		d, err := list()
		d.info = listed.info
		lacks := d.lacks()
		if try == maxTries || !listed.WasReplaced() && (err != nil || lacks == nil || slices.Equal(lacks, before)) {
			return d, err
		}
		before = lacks
	}
}
