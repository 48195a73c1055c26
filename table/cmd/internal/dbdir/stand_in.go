package dbdir

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// checkCurrent returns an error if CURRENT or a MANIFEST in the directory is a stand-in.
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

// FetchAdvice says how to fetch a table or a log of the database in dir that git has not fetched, or returns "".
func FetchAdvice(dir string) string {
	names, _ := files.Names(dir) // reading the directory has reported the error
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !versions.IsTableName(path) && !versions.IsLogName(name) {
			continue
		}
		start, err := dbfile.ReadStart(path)
		if s, found := dbfile.StandInOf(path, start, err); found && s.IsPointer() {
			return fmt.Sprintf("%s is %s: %s", format.Printable(path), s.What, s.Next)
		}
	}
	return ""
}
