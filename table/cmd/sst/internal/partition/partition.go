package partition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// A TableWriter writes a table, and then knows its line in the manifest.
type TableWriter interface {
	Append(key, value []byte) error
	Close() (set.Table, error)
}

// Options say how to write a set.
type Options struct {
	Dir       string // made if it is missing
	Entries   int    // most entries of a table
	Extension string // of the tables' names
	TempDir   string // directory for a temporary file; "": that of the system

	// NewTable returns the TableWriter of a table that is written to w.
	NewTable func(w io.Writer) (TableWriter, error)
}

// A Writer writes a set: first the tables, each when it is complete, and last the manifest.
// The names of the tables have their number and the start of their SHA-256. So the same pairs
// make the same files, and a set that is replaced is whole until the new manifest is there. The
// calls come in the order
//
//	Create Append* (Commit | Abort)
type Writer struct {
	ctx     context.Context
	o       Options
	cutter  *cutter
	current *output.Output // the table that takes entries; nil: none
	made    bool           // Create made the directory
	added   []added        // tables that were not there before
	tables  []set.Table
	old     []set.Table // of the manifest that is replaced
}

// An added is a table that was not there before.
type added struct {
	name string
	file output.Files // it has only this one
}

// Create creates a Writer. After ctx ends, writes fail.
func Create(ctx context.Context, o Options) (*Writer, error) {
	w := &Writer{ctx: ctx, o: o}
	w.cutter = newCutter(o.Entries, o.TempDir, w.start)
	if name, err := database.FindCurrentOrManifest(o.Dir); name != "" {
		return nil, errors.Join(err, fmt.Errorf("%s: the directory of a database, because it has %s: want another directory for a set", o.Dir, name))
	}
	if err := w.makeDir(); err != nil {
		return nil, err
	}
	if err := w.readOld(); err != nil {
		return nil, err
	}
	return w, nil
}

// makeDir makes the directory, if it is missing.
func (w *Writer) makeDir() error {
	err := os.Mkdir(w.o.Dir, 0o777)
	if w.made = err == nil; w.made || !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Stat(w.o.Dir); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is a file, want a directory for the tables of a set", w.o.Dir))
	}
	return nil
}

// readOld reads the manifest that is replaced, if there is one. Another file of its name is an
// error.
func (w *Writer) readOld() error {
	path := w.path(set.ManifestName)
	f, _, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	m, err := set.ReadManifest(f)
	if err != nil {
		return fmt.Errorf("%s is there and would be replaced, but it is not a manifest: want another directory: %w", path, err)
	}
	w.old = m.Tables
	return nil
}

func (w *Writer) path(name string) string { return filepath.Join(w.o.Dir, name) }

// Append adds a pair. Its key must be > the key before.
func (w *Writer) Append(key, value []byte) error { return w.cutter.Append(key, value) }

// start starts the next table.
func (w *Writer) start() (entryWriter, error) {
	to, err := output.Create(w.ctx, w.path(w.number()+w.o.Extension), nil)
	if err != nil {
		return nil, err
	}
	w.current = to
	t, err := w.o.NewTable(to)
	return newTable{t, w}, err
}

// number returns the start of the next table's name.
func (w *Writer) number() string { return fmt.Sprintf("%06d", len(w.tables)+1) }

// A newTable is the table that takes entries.
type newTable struct {
	TableWriter
	w *Writer
}

// Close gives the table its name, when it is complete.
func (t newTable) Close() error {
	line, err := t.TableWriter.Close()
	if err != nil {
		return err
	}
	w := t.w
	line.Name = w.number() + "-" + line.SHA256[:16] + w.o.Extension
	if err := w.current.SetName(line.Name); err != nil {
		return err
	}
	file, err := w.current.Temporary()
	if err != nil {
		return err
	}
	_, err = os.Lstat(w.path(line.Name))
	isNew := errors.Is(err, fs.ErrNotExist)
	if err := output.Commit(w.current); err != nil {
		return err
	}
	w.current = nil
	w.tables = append(w.tables, line)
	if isNew {
		w.added = append(w.added, added{line.Name, file})
	}
	return nil
}

// Commit completes the last table, and writes the manifest. It returns how many files of the
// manifest that was replaced are not tables of the set any more. A set without tables replaces
// none with tables: its input is more often that of a program that failed.
func (w *Writer) Commit() (obsolete int, err error) {
	if err := w.cutter.finish(); err != nil {
		return 0, err
	}
	if path := w.path(set.ManifestName); len(w.tables) == 0 && len(w.old) > 0 {
		return 0, fmt.Errorf("the input has no pairs, and %s lists %s: nothing was replaced; if you want an empty set, remove %s first", path, text.Count(uint64(len(w.old)), "table"), path)
	}
	to, err := output.Create(w.ctx, w.path(set.ManifestName), nil)
	if err != nil {
		return 0, err
	}
	defer to.Abort() // does nothing after Commit
	if err := set.WriteManifest(to, &set.Manifest{Tables: w.tables}); err != nil {
		return 0, err
	}
	if err := output.Commit(to); err != nil {
		return 0, err
	}
	w.added, w.made = nil, false
	return w.obsolete(), nil
}

// obsolete returns how many files of the old manifest are not tables of the set any more.
func (w *Writer) obsolete() int {
	used := map[string]bool{}
	for _, t := range w.tables {
		used[t.Name] = true
	}
	n := 0
	for _, t := range w.old {
		if _, err := os.Lstat(w.path(t.Name)); err == nil && !used[t.Name] {
			n++
		}
	}
	return n
}

// Abort removes the tables that the Writer has added, and the directory if it made that. A table
// stays if another Writer has replaced it by the same one, since that Writer's manifest lists it.
// After Commit, Abort does nothing, so it can be deferred.
func (w *Writer) Abort() error {
	errs := []error{w.cutter.close()}
	if w.current != nil {
		errs = append(errs, w.current.Abort())
	}
	for _, t := range w.added {
		path := w.path(t.name)
		if info, err := os.Lstat(path); err == nil && t.file.Has(info) {
			errs = append(errs, os.Remove(path))
		}
	}
	if w.made {
		errs = append(errs, os.Remove(w.o.Dir))
	}
	w.added, w.made = nil, false
	return errors.Join(errs...)
}
