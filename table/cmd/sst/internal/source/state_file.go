package source

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/versions"
)

// A StateFile is CURRENT, a MANIFEST, or a file that these name and that is missing, other than a table.
type StateFile struct {
	Path   string
	Err    error  // what is wrong with it, as a FileError; nil: it is sound
	Remark string // about a sound one
}

// StateFiles returns the files that say what a database has, and those for which Damage has an error. A set, or
// a directory of tables, has none.
func (d *Dir) StateFiles() (all []StateFile) {
	errs := map[string][]error{}
	var paths []string
	add := func(path string, err error) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
		errs[path] = append(errs[path], err)
	}
	for _, err := range d.Damage {
		e := (*FileError)(nil)
		if errors.As(err, &e) {
			add(e.Path, e.Err)
		}
	}
	if d.Version != nil {
		add(filepath.Join(d.Path, d.Version.Manifest), nil)
	}
	if d.hasCurrent {
		add(filepath.Join(d.Path, "CURRENT"), nil)
	}
	for _, f := range d.Flaws {
		add(filepath.Join(d.Path, f.File), corruption(f.What))
	}
	for _, path := range paths {
		f := StateFile{Path: path}
		if err := errors.Join(errs[path]...); err != nil {
			f.Err = &FileError{path, err}
		}
		if d.Version != nil && versions.IsManifest(filepath.Base(path)) && filepath.Base(path) == d.Version.Manifest {
			f.Remark = d.Version.LevelNote()
		}
		all = append(all, f)
	}
	return all
}

// IsDatabase reports whether the directory has files of a database besides tables.
func (d *Dir) IsDatabase() bool {
	return d.Set == "" && (d.Version != nil || d.hasCurrent || len(d.Damage) > 0 || len(d.Logs) > 0)
}

// flawNotes are notes of what no engine would have written, and that does not matter to what is read.
func (d *Dir) flawNotes() (notes []string) {
	for _, f := range d.Flaws {
		notes = append(notes, filepath.Join(d.Path, f.File)+": "+f.What)
	}
	return notes
}
