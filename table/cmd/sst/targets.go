package main

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A target is a table or a log that a command is applied to.
type target struct {
	source.TableFile
	version *database.Version // the version of its database, if the argument is a directory
	order   source.Order      // the order that the user or the MANIFEST says
	dir     string            // the directory, if the argument is one
	log     bool
}

// targetsOf returns the tables and logs that the arguments name. failed holds directories
// that cannot be listed, and what is missing in databases. Missing tables of a set are among all.
func targetsOf(args []string, o source.Options, note io.Writer) (all []target, failed []error) {
	for _, arg := range args {
		if !source.IsDirectory(arg) {
			all = append(all, target{TableFile: source.TableFile{Path: arg}, order: o.Order, log: source.IsLog(arg)}) // opening it returns the error
			continue
		}
		dir, err := source.ListDir(arg, o)
		failed = append(failed, err)
		if dir.Set == "" { // of a set, each missing table is a target
			failed = append(failed, dir.Damage...)
			slices.Reverse(dir.Tables) // the oldest first
		}
		for _, t := range dir.All() {
			all = append(all, target{TableFile: t, version: dir.Version, order: o.Order.Or(dir.Order), dir: arg})
		}
		for _, path := range dir.Logs {
			all = append(all, target{TableFile: source.TableFile{Path: path}, log: true, dir: arg})
		}
		for _, n := range dir.Notes {
			text.Line(note, "sst: note: %s", n)
		}
	}
	return all, failed
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
