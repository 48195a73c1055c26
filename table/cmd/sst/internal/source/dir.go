package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
)

// A Dir is what a directory holds.
type Dir struct {
	Tables []string // paths, the newest first as far as their names tell
	Notes  []string // what of the directory is not seen, for people
}

// ListDir lists the directory's files that are called .ldb or .sst. Of a database
// they are those that it lists itself, unless all are asked for: others are left over,
// or were not finished.
func ListDir(dir string, o Options) (Dir, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Dir{}, err
	}
	var d Dir
	var logs []string
	for _, e := range entries {
		switch path := filepath.Join(dir, e.Name()); filepath.Ext(e.Name()) {
		case ".ldb", ".sst":
			d.Tables = append(d.Tables, path)
		case ".log":
			if info, err := e.Info(); err == nil && info.Size() > 0 {
				logs = append(logs, path)
			}
		case "":
			if err := o.Outputs.CheckAll([]string{path}); err != nil && isVersionFile(e.Name()) {
				return Dir{}, err
			}
		}
	}
	v, err := database.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && v == nil:
	case err != nil:
		d.note("%v: all tables of the directory are taken for the database's", err)
	default:
		if logs, err = d.restrict(dir, v, logs, o.AllTables); err != nil {
			return Dir{}, err
		}
	}
	if len(d.Tables) == 0 && v == nil {
		return Dir{}, fmt.Errorf("%s: a directory without .ldb and .sst files", dir)
	}
	for _, log := range logs {
		d.note("%s may hold writes that are in no table yet, and are not seen", log)
	}
	slices.SortStableFunc(d.Tables, newer)
	return d, nil
}

// isVersionFile reports whether a database's file says which tables it has.
func isVersionFile(name string) bool {
	return name == "CURRENT" || database.ManifestName.MatchString(name)
}

func (d *Dir) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// restrict leaves the tables that the database lists, all of which must be there, and
// returns the logs that it is not done with.
func (d *Dir) restrict(dir string, v *database.Version, logs []string, all bool) (live []string, err error) {
	if v.Comparer != "" && v.Comparer != table.BytewiseComparer.Name() {
		d.note("the keys of %s are in the order of %s, which is not known here", dir, v.Comparer)
	}
	missing := v.Tables
	var unlisted []string
	d.Tables = slices.DeleteFunc(d.Tables, func(path string) bool {
		n, err := number(path)
		if err == nil && missing[n] {
			delete(missing, n)
			return false
		}
		unlisted = append(unlisted, filepath.Base(path))
		return !all
	})
	if len(missing) > 0 {
		return nil, missingTable{dir, slices.Min(slices.Collect(maps.Keys(missing)))}
	}
	if len(unlisted) > 0 && !all {
		d.note("%s lists other tables, and not %s: see --all-tables", dir, strings.Join(unlisted, ", "))
	}
	return slices.DeleteFunc(logs, func(path string) bool {
		n, err := number(path)
		return err != nil || n < v.Log
	}), nil
}

// missingTable is the error for a database that lacks one of its tables.
type missingTable struct {
	dir    string
	number uint64
}

func (m missingTable) Error() string {
	return fmt.Sprintf("%s: the database lists table %06d, which is not there", m.dir, m.number)
}

func (missingTable) Is(target error) bool { return target == table.ErrCorrupt }

// newer orders tables by the number that their name is, as in a database, the
// highest first; others by name, the last first.
func newer(a, b string) int {
	m, aErr := number(a)
	n, bErr := number(b)
	if aErr == nil && bErr == nil && m != n {
		return cmp.Compare(n, m)
	}
	return strings.Compare(b, a)
}

func number(path string) (uint64, error) {
	base := filepath.Base(path)
	return strconv.ParseUint(strings.TrimSuffix(base, filepath.Ext(base)), 10, 64)
}
