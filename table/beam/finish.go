package setio

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/table/set"
)

// finish writes the manifest.
type finish struct {
	Dir string
}

// ProcessElement writes the manifest if all files and pieces arrived in tables, and emits its
// path. sent are the numbers of pieces of the files, and tables are of type written, in JSON.
func (fn *finish) ProcessElement(
	_ []byte, files func(*string) bool, sent func(*int64) bool, tables func(*[]byte) bool, emit func(string),
) error {
	var sorted int
	var pieces int64
	for n := int64(0); sent(&n); sorted++ {
		pieces += n
	}
	if err := checkFiles("sorted", sorted, count(files)); err != nil {
		return err
	}
	m, err := manifest(tables, pieces)
	if err != nil {
		return err
	}
	if err := checkTables(fn.Dir, m); err != nil {
		return err
	}
	path, err := writeManifest(fn.Dir, m)
	if err != nil {
		return err
	}
	emit(path)
	return nil
}

// manifest returns the manifest of the tables, which must be made of that many pieces.
func manifest(tables func(*[]byte) bool, pieces int64) (*set.Manifest, error) {
	var all []written
	var merged int64
	for line := []byte(nil); tables(&line); {
		var w written
		if err := json.Unmarshal(line, &w); err != nil {
			return nil, fmt.Errorf("setio: what a worker says of its table: %w", err)
		}
		merged += w.Pieces
		all = append(all, w)
	}
	if merged != pieces {
		return nil, fmt.Errorf("setio: %d pieces of sorted keys are in tables, want %d: "+
			"a worker has failed and the runner went on; see its log, and build again", merged, pieces)
	}
	slices.SortFunc(all, func(a, b written) int { return cmp.Compare(a.Number, b.Number) })
	m := new(set.Manifest)
	for _, w := range all {
		m.Tables = append(m.Tables, w.Table)
	}
	return m, nil
}

// checkTables checks that the files of all tables are in dir: that the workers share it.
func checkTables(dir string, m *set.Manifest) error {
	for _, t := range m.Tables {
		info, err := os.Stat(filepath.Join(dir, t.Name))
		if err != nil {
			return fmt.Errorf("setio: table that a worker has written: %w: want a directory that all workers share",
				err)
		}
		if info.Size() != t.Size {
			return fmt.Errorf("setio: table %s has %d bytes, want %d: want a directory that all workers share",
				info.Name(), info.Size(), t.Size)
		}
	}
	return nil
}
