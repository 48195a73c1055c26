package command

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A target is a table or a log that a command is applied to.
type target struct {
	source.TableFile
	version *versions.Version // the version of its database, if the argument is a directory
	order   source.Order      // the order that the user or the MANIFEST says
	dir     string            // the directory, if the argument is one
	log     bool
	records bool              // it is in the format of logs, but no log: see source.RecordFile
	logs    **source.Log      // the last log of the directory that was read; nil: it is none of a directory
	state   *source.StateFile // it is no table and no log to read
	highest *sequence         // of the tables of the database that were checked; nil: it is of none
}

// A sequence is the highest sequence number of the tables that a MANIFEST lists, and a table that has it.
type sequence struct {
	number uint64
	path   string
}

// raise takes note of the sequence number of a table.
func (s *sequence) raise(number uint64, path string) {
	if number > s.number {
		s.number, s.path = number, path
	}
}

// targetsOf returns the tables and logs that the arguments name. failed holds directories
// that cannot be listed, and what is wrong with databases. Missing tables are among all. With states, files such
// as CURRENT are too, behind what they are about, and what is wrong with them is not in failed.
func targetsOf(args []string, o source.Options, note io.Writer, states bool) (all []target, failed []error) {
	for _, arg := range args {
		if !source.IsDirectory(arg) {
			kind, _ := source.FileKindOf(arg, o) // opening it returns the error
			all = append(all, target{TableFile: source.TableFile{Path: arg}, order: o.Order, log: source.IsLogFile(arg, o), records: kind == source.RecordFile})
			continue
		}
		dir, err := source.ListDir(arg, o)
		failed = append(failed, err)
		if !states {
			failed = append(failed, dir.Damage...)
		}
		tables, logs, highest := dir.All(), &source.Log{Log: wal.Log{Start: dir.LogStart(o)}}, (*sequence)(nil)
		if dir.IsDatabase() {
			highest = new(sequence)
		}
		if dir.Set == "" {
			slices.Reverse(tables) // the oldest first
		}
		for _, t := range tables {
			all = append(all, target{TableFile: t, version: dir.Version, order: o.Order.Or(dir.Order), dir: arg, highest: highest})
		}
		for _, path := range dir.Logs {
			all = append(all, target{TableFile: source.TableFile{Path: path}, log: true, version: dir.Version, dir: arg, logs: &logs, highest: highest})
		}
		for _, f := range dir.StateFiles() {
			if states {
				all = append(all, target{TableFile: source.TableFile{Path: f.Path}, version: dir.Version, dir: arg, state: &f, highest: highest})
			}
		}
		for _, n := range dir.Notes {
			text.Line(note, "sst: note: %s", n)
		}
	}
	return all, failed
}

// nextLog returns the log, which has yet to be read. The targets of a directory are read in order.
func (t target) nextLog() *source.Log {
	if t.logs == nil {
		return &source.Log{Path: t.Path}
	}
	*t.logs = (*t.logs).Next(t.Path)
	return *t.logs
}

// isOfDatabase reports whether the file is in the directory of a database, which sst repair reads.
func (t target) isOfDatabase() bool { return t.highest != nil }

// kind names the kind of file.
func (t target) kind() string {
	name := filepath.Base(t.Path)
	switch _, isLog := versions.LogNumber(name); {
	case t.records:
		return "records"
	case t.log, t.state != nil && isLog:
		return "log"
	case t.state != nil && name == "CURRENT":
		return "current"
	case t.state != nil:
		return "manifest"
	}
	return "table"
}

func pathsOf(tables []target) []string {
	var paths []string
	for _, t := range tables {
		paths = append(paths, t.Path)
	}
	return paths
}

// wasRemoved reports whether err says that the file was removed from its directory, because
// its database is in use.
func (t target) wasRemoved(err error, o source.Options) bool {
	if t.dir == "" || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	d, err := source.ListDir(t.dir, o)
	has := slices.Contains(d.Logs, t.Path) || slices.ContainsFunc(d.All(), func(l source.TableFile) bool { return l.Path == t.Path })
	return err == nil && !has
}
