package partition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/set"
)

// A layer is what makes a Writer one of a layer.
type layer struct {
	check    func(*set.Manifest) error
	removals bool // the next tables are removals
	added    int  // number of the tables before those, once removals is set
}

// CreateLayer creates a Writer that adds a layer to the set in o.Dir. check returns an error if the
// tables do not fit to those of a manifest: it is asked for the one that is there, and in Commit again. The
// numbers in the names of the tables go on where those of the manifest end.
func CreateLayer(ctx context.Context, o Options, check func(*set.Manifest) error) (*Writer, error) {
	w := &Writer{ctx: ctx, o: o, layer: &layer{check: check}}
	w.cutter = newCutter(o.Entries, o.TempDir, w.start)
	_, err := w.readBase()
	if err != nil {
		return nil, err
	}
	w.pending, err = output.CreateDir(o.Dir)
	return w, err
}

// BeginRemovals completes the tables of pairs. What Append adds from now on are keys to remove, in tables
// of newTable.
func (w *Writer) BeginRemovals(newTable func(w io.Writer) (TableWriter, error)) error {
	if err := w.cutter.finish(); err != nil {
		return err
	}
	w.layer.removals, w.layer.added = true, len(w.tables)
	w.o.NewTable = newTable
	w.cutter = newCutter(w.o.Entries, w.o.TempDir, w.start)
	return nil
}

// readBase reads the manifest that the layer is added to.
func (w *Writer) readBase() (*set.Manifest, error) {
	path := w.path(set.ManifestName)
	f, _, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist, so there is no set to add a layer to: build one by sst build -o %s%c", path, filepath.Clean(w.o.Dir), os.PathSeparator)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	m, err := set.ReadManifest(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, w.layer.check(m)
}

// withLayer returns the manifest that is there, with the layer of the tables. It gives these their numbers.
func (w *Writer) withLayer() (*set.Manifest, error) {
	if len(w.tables) == 0 {
		return nil, fmt.Errorf("there are neither pairs to add nor keys to remove: no layer was added to %s", w.path(set.ManifestName))
	}
	m, err := w.readBase()
	if err != nil {
		return nil, err
	}
	first := nextNumber(m)
	for i := len(w.tables) - 1; i >= 0; i-- { // none takes the name of one that has yet to be renamed
		t := &w.tables[i]
		name := w.name(first+i, t)
		if err := os.Rename(w.pending.Path(t.Name), w.pending.Path(name)); err != nil {
			return nil, err
		}
		t.Name = name
	}
	added := len(w.tables)
	if w.layer.removals {
		added = w.layer.added
	}
	m.Layers = append(m.Layers, set.Layer{Tables: w.tables[:added], Removals: w.tables[added:]})
	return m, nil
}

// maxNumber is above all numbers of names that count as such, and not as dates or hashes.
const maxNumber = 1e9

// nextNumber returns a number that begins the name of no table.
func nextNumber(m *set.Manifest) int {
	most := uint64(0)
	for t := range m.All() {
		digits := len(t.Name) - len(strings.TrimLeft(t.Name, "0123456789"))
		if n, err := strconv.ParseUint(t.Name[:digits], 10, 64); err == nil && n < maxNumber {
			most = max(most, n)
		}
	}
	return int(most) + 1
}
