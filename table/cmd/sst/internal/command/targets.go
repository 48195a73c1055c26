package command

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A target is a file that a command goes over.
type target struct {
	dbdir.TableFile
	kind  string
	state *dbdir.StateFile // of a file that is no table and no log to read; nil: of others
	in    *folder
}

// The kinds of targets.
const (
	isTable    = "table"
	isLog      = "log"
	isRecords  = "records" // in the format of logs, but no log: see source.RecordFile
	isCurrent  = "current"
	isManifest = "manifest"
)

// A folder is what the targets of an argument have in common.
type folder struct {
	path     string            // the directory; "": the argument is a file
	version  *versions.Version // of the database
	order    dbfile.Order      // the order that the user or the MANIFEST says
	database bool              // sst repair reads the directory
	lastLog  *dbfile.Log       // the last log that was read
	highest  uint64            // the highest sequence number of the tables that were checked
	newest   string            // the path of a table that has it
}

// targets returns the files that the arguments name. Missing tables are among them. Directories
// that cannot be listed, and what is wrong with databases, are errors of the pass. With states, files such
// as CURRENT are targets too, behind what they are about, and what is wrong with them is no error.
func (p *pass) targets(args []string, states bool) (all []target) {
	for _, arg := range args {
		if !dbdir.IsDirectory(arg) {
			all = append(all, namedTarget(arg, p.options))
			continue
		}
		dir, err := dbdir.ListDir(arg, p.options.ListOptions)
		p.fail(err)
		p.note(dir.Notes...)
		in := &folder{path: arg, version: dir.Version, order: p.options.Order.Or(dir.Order), database: dir.IsDatabase()}
		in.lastLog = &dbfile.Log{Log: wal.Log{Start: dir.LogStart(p.options.ListOptions)}}
		all = append(all, in.files(dir)...)
		if !states {
			p.fail(dir.Damage...)
			continue
		}
		for _, f := range dir.StateFiles() {
			all = append(all, target{dbdir.TableFile{Path: f.Path}, stateKind(f.Path), &f, in})
		}
	}
	return all
}

// namedTarget returns the target for an argument that is a file. Opening the file returns its error.
func namedTarget(path string, o source.Options) target {
	t := target{dbdir.TableFile{Path: path}, isTable, nil, &folder{order: o.Order, lastLog: new(dbfile.Log)}}
	if dbfile.IsLogFile(path, o.Options) {
		t.kind = isLog
	} else if kind, _ := dbfile.FileKindOf(path, o.Options); kind == dbfile.RecordFile {
		t.kind = isRecords
	}
	return t
}

// files returns the tables and logs of a directory, each in the order in which they were written.
func (in *folder) files(dir dbdir.Dir) (all []target) {
	for _, t := range dir.All() {
		all = append(all, target{t, isTable, nil, in})
	}
	if dir.Set == "" {
		slices.Reverse(all)
	}
	for _, path := range dir.Logs {
		all = append(all, target{dbdir.TableFile{Path: path}, isLog, nil, in})
	}
	return all
}

// stateKind returns the kind of a file that source.StateFiles lists.
func stateKind(path string) string {
	name := filepath.Base(path)
	if _, log := versions.LogNumber(name); log {
		return isLog
	}
	if name == "CURRENT" {
		return isCurrent
	}
	return isManifest
}

// nextLog returns the log, which has yet to be read. The targets of a directory are read in order.
func (t target) nextLog() *dbfile.Log {
	t.in.lastLog = t.in.lastLog.Next(t.Path)
	return t.in.lastLog
}

func pathsOf(tables []target) []string {
	var paths []string
	for _, t := range tables {
		paths = append(paths, t.Path)
	}
	return paths
}

// sizeOf returns the size of all files together.
func sizeOf(files ...target) int64 { return input.TotalSize(pathsOf(files)) }

// wasRemoved reports whether err says that the file was removed from its directory, because
// its database is in use.
func (t target) wasRemoved(err error, o source.Options) bool {
	if t.in.path == "" || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	d, err := dbdir.ListDir(t.in.path, o.ListOptions)
	has := slices.Contains(d.Logs, t.Path) || slices.ContainsFunc(d.All(), func(l dbdir.TableFile) bool { return l.Path == t.Path })
	return err == nil && !has
}
