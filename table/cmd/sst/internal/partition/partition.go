// Package partition writes sorted pairs to the tables of a set: a directory of tables of about
// equal numbers of entries, and their manifest.
package partition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

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
	current *output.Output // of the last table that was started; nil: none
	made    bool           // Create made the directory
	tables  []set.Table
	old     []string                  // the tables of the manifest that is replaced
	fits    func(*set.Manifest) error // of CreateLayer; nil: a set is written
	added   int                       // number of the tables before those of removals
}

func newWriter(ctx context.Context, o Options) *Writer {
	w := &Writer{ctx: ctx, o: o, added: math.MaxInt}
	w.cutter = newCutter(o.Entries, o.TempDir, w.start)
	return w
}

// Create creates a Writer. After ctx ends, writes fail.
func Create(ctx context.Context, o Options) (*Writer, error) {
	if name, err := versions.FindCurrentOrManifest(o.Dir); name != "" {
		return nil, errors.Join(err, fmt.Errorf("%s: the directory of a database, because it has %s: want another directory for a set", o.Dir, name))
	}
	w := newWriter(ctx, o)
	if err := w.makeDirs(); err != nil {
		return nil, err
	}
	m, err := w.readManifest(" is there and would be replaced, but it is not a manifest: want another directory")
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	for t := range m.All() {
		w.old = append(w.old, t.Name)
	}
	return w, nil
}

// CreateLayer creates a Writer that adds a layer to the set in o.Dir. fits returns an error if the
// tables do not fit to those of a manifest: it is called for the one that is there, and in Commit again. The
// numbers in the names of the tables go on where those of the manifest end.
func CreateLayer(ctx context.Context, o Options, fits func(*set.Manifest) error) (*Writer, error) {
	w := newWriter(ctx, o)
	w.fits = fits
	_, err := w.readBase()
	if err != nil {
		return nil, err
	}
	w.pending, err = output.CreateDir(o.Dir)
	return w, err
}

// makeDirs makes the directory, if it is missing, and the temporary one in it. If another
// Writer that has ended removes the directory in between, it is made again.
func (w *Writer) makeDirs() error {
	for {
		err := os.Mkdir(w.o.Dir, 0o777)
		if w.made = err == nil; !w.made && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := os.Stat(w.o.Dir)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file, want a directory for the tables of a set", w.o.Dir)
		}
		if _, linkErr := os.Lstat(w.o.Dir); err != nil && linkErr == nil { // a dangling link
			return err
		}
		if w.pending, err = output.CreateDir(w.o.Dir); w.made || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

func (w *Writer) path(name string) string { return filepath.Join(w.o.Dir, name) }

// Append adds a pair. Its key must be > the key before.
func (w *Writer) Append(key, value []byte) error { return w.cutter.Append(key, value) }

// BeginRemovals completes the tables of pairs. What Append adds from now on are keys to remove, in tables
// of newTable.
func (w *Writer) BeginRemovals(newTable func(w io.Writer) (TableWriter, error)) error {
	if err := w.cutter.finish(); err != nil {
		return err
	}
	w.added, w.o.NewTable = len(w.tables), newTable
	w.cutter = newCutter(w.o.Entries, w.o.TempDir, w.start)
	return nil
}

// start starts the next table.
func (w *Writer) start() (entryWriter, error) {
	to, err := output.Create(w.ctx, w.pendingPath(len(w.tables)), nil)
	if err != nil {
		return nil, err
	}
	w.current = to
	t, err := w.o.NewTable(to)
	return newTable{t, w}, err
}

// pendingPath returns the path of a table until nameTables.
func (w *Writer) pendingPath(i int) string {
	return w.pending.Path(fmt.Sprintf("%06d%s", i, w.o.Extension))
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
	t.w.tables = append(t.w.tables, line)
	return output.Commit(t.w.current)
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
