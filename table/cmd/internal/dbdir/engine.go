package dbdir

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

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
	options, current := "", false
	for _, name := range names {
		switch {
		case name == "IDENTITY", strings.HasPrefix(name, "OPTIONS-"):
			options = max(options, name)
		case name == "CURRENT", strings.HasPrefix(name, "marker.manifest."):
			current = true
		}
	}
	if options == "" {
		return d.checkLogs()
	}
	if !current {
		return nil
	}
	engine, reader := "RocksDB", "ldb --db=%s scan"
	if start, _ := dbfile.ReadStart(filepath.Join(d.Path, options)); bytes.Contains(start, []byte("pebble_version")) {
		engine, reader = "Pebble", "pebble db scan %s"
	}
	return fmt.Errorf("%s: the directory of a %s database, as %s shows, not of a LevelDB database: read it with %s",
		d.Path, engine, options, fmt.Sprintf(reader, text.ShellPath(d.Path)))
}

// checkLogs is checkEngine for a directory without OPTIONS: its logs can show that it is Pebble's.
func (d *Dir) checkLogs() error {
	for _, path := range d.Logs {
		start, _ := dbfile.ReadStart(path) // what reads it next returns the error
		if wal.StartsWithPebbleFragment(start) {
			return &dbfile.FileError{Path: path, Err: fmt.Errorf("%s, not of LevelDB: read it with pebble wal dump %s", dbfile.PebbleLog, text.ShellPath(path))}
		}
	}
	return nil
}
