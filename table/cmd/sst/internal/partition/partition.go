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
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
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

// A Writer writes a set: first the tables, in a temporary directory, then it gives them their
// names, and last the manifest. The names of the tables have their number and the start of their
// SHA-256. So the same pairs make the same files, and a set that is replaced is whole until the
// new manifest is there. The calls come in the order
//
//	Create Append* (Commit | Abort)
//	CreateLayer Append* [BeginRemovals Append*] (Commit | Abort)
//
// Another Writer may write to the same directory, even the same tables. So a table that has its
// name is never removed: the other one's manifest may list it.
type Writer struct {
	ctx     context.Context
	o       Options
	cutter  *cutter
	pending output.Dir     // has the complete tables until Commit
	current *output.Output // the table that takes entries; nil: none
	made    bool           // Create made the directory
	tables  []set.Table
	old     []set.Table // of the manifest that is replaced
	layer   *layer      // nil: a set is written
}

// Create creates a Writer. After ctx ends, writes fail.
func Create(ctx context.Context, o Options) (*Writer, error) {
	w := &Writer{ctx: ctx, o: o}
	w.cutter = newCutter(o.Entries, o.TempDir, w.start)
	if name, err := versions.FindCurrentOrManifest(o.Dir); name != "" {
		return nil, errors.Join(err, fmt.Errorf("%s: the directory of a database, because it has %s: want another directory for a set", o.Dir, name))
	}
	if err := w.makeDirs(); err != nil {
		return nil, err
	}
	if err := w.readOld(); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// makeDirs makes the directory, if it is missing, and the temporary one in it. If another
// Writer that has ended removes the directory in between, it is made again.
func (w *Writer) makeDirs() error {
	for {
		if err := w.makeDir(); err != nil {
			return err
		}
		var err error
		if w.pending, err = output.CreateDir(w.o.Dir); w.made || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// makeDir makes the directory, if it is missing.
func (w *Writer) makeDir() error {
	err := os.Mkdir(w.o.Dir, 0o777)
	if w.made = err == nil; w.made || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(w.o.Dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, want a directory for the tables of a set", w.o.Dir)
	}
	if _, gone := os.Lstat(w.o.Dir); errors.Is(gone, fs.ErrNotExist) {
		return nil // another Writer has removed it: makeDirs tries again. A dangling link is an error
	}
	return err
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
	for t := range m.All() {
		w.old = append(w.old, *t)
	}
	return nil
}

func (w *Writer) path(name string) string { return filepath.Join(w.o.Dir, name) }

// Append adds a pair. Its key must be > the key before.
func (w *Writer) Append(key, value []byte) error { return w.cutter.Append(key, value) }

// start starts the next table.
func (w *Writer) start() (entryWriter, error) {
	to, err := output.Create(w.ctx, w.pending.Path(number(len(w.tables)+1)+w.o.Extension), nil)
	if err != nil {
		return nil, err
	}
	w.current = to
	t, err := w.o.NewTable(to)
	return newTable{t, w}, err
}

// number returns the start of a table's name.
func number(n int) string { return fmt.Sprintf("%06d", n) }

// name returns the name of table n.
func (w *Writer) name(n int, t *set.Table) string {
	return number(n) + "-" + t.SHA256[:16] + w.o.Extension
}

// A newTable is the table that takes entries.
type newTable struct {
	TableWriter
	w *Writer
}

// Close completes the table, in the temporary directory.
func (t newTable) Close() error {
	line, err := t.TableWriter.Close()
	if err != nil {
		return err
	}
	w := t.w
	line.Name = w.name(len(w.tables)+1, &line)
	if err := w.current.SetName(line.Name); err != nil {
		return err
	}
	if err := output.Commit(w.current); err != nil {
		return err
	}
	w.current = nil
	w.tables = append(w.tables, line)
	return nil
}

// Abort removes the tables that have no names yet, and the directory if the Writer made it and
// nothing is in it. After Commit, Abort does nothing, so it can be deferred.
func (w *Writer) Abort() error {
	err := w.cutter.close()
	if w.current != nil {
		err = errors.Join(err, w.current.Abort())
	}
	err = errors.Join(err, w.pending.Abort())
	if w.made {
		os.Remove(w.o.Dir) // fails if another Writer has begun to use it
	}
	w.made = false
	return err
}
