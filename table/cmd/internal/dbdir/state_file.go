package dbdir

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// A StateFile is CURRENT, a MANIFEST, or a file that these name and that is missing, other than a table.
type StateFile struct {
	Path   string
	Err    error  // what is wrong with it, FileErrors; nil: it is sound
	Remark string // about a sound one
}

// StateFiles returns the files that say what a database has, and those for which Damage has an error. A set, or
// a directory of tables, has none.
func (d *Dir) StateFiles() (all []StateFile) {
	if v := d.Version; v != nil {
		all = append(all, StateFile{Path: filepath.Join(d.Path, v.Manifest), Remark: v.LevelNote()})
	}
	if d.hasCurrent {
		all = addState(all, filepath.Join(d.Path, "CURRENT"), nil)
	}
	if d.Version == nil && !d.hasCurrent && len(d.Damage) == 0 && d.hasEngineFiles() {
		all = addState(all, filepath.Join(d.Path, "CURRENT"), dbfile.Corruption("missing, though there are tables and logs of a database"))
	}
	for _, err := range d.Damage {
		if e := (*dbfile.FileError)(nil); errors.As(err, &e) {
			all = addState(all, e.Path, e.Err)
		}
	}
	for _, f := range d.Flaws {
		all = addState(all, filepath.Join(d.Path, f.File), dbfile.Corruption(f.What))
	}
	return all
}

// hasEngineFiles reports whether the directory has tables and logs that are named as engines name them.
func (d *Dir) hasEngineFiles() bool {
	isLog := func(path string) bool { return numbered(path).hasEngineName() }
	return slices.ContainsFunc(d.Tables, TableFile.hasEngineName) && slices.ContainsFunc(d.Logs, isLog)
}

// addState adds what is wrong with a file, which may be among all.
func addState(all []StateFile, path string, err error) []StateFile {
	i := slices.IndexFunc(all, func(f StateFile) bool { return f.Path == path })
	if i < 0 {
		i, all = len(all), append(all, StateFile{Path: path})
	}
	if err != nil {
		all[i].Err = errors.Join(all[i].Err, &dbfile.FileError{Path: path, Err: err})
	}
	return all
}

// IsDatabase reports whether the directory has files of a database besides tables.
func (d *Dir) IsDatabase() bool {
	return d.Set == "" && (d.Version != nil || d.hasCurrent || len(d.Damage) > 0 || len(d.Logs) > 0)
}
