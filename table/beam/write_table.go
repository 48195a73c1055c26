package setio

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// writeTable writes a table of pieces.
type writeTable struct {
	Dir    string
	Writer string // as in Options
}

// A written is a table that is written. It travels as JSON.
type written struct {
	Number int64 // of the table: 1 for that with the smallest keys
	Pieces int64 // that it was made of
	Table  set.Table
}

// ProcessElement merges the pieces to a table, and emits a written.
func (fn *writeTable) ProcessElement(number int64, pieces func(*[]byte) bool, emit func([]byte)) error {
	o, err := writerOptions(fn.Writer)
	if err != nil {
		return err
	}
	w := written{Number: number}
	var m merger
	for p := piece(nil); pieces(&p); w.Pieces++ {
		if err := m.add(p); err != nil {
			return err
		}
	}
	if w.Table, err = createTable(fn.Dir, number, o, &m); err != nil {
		return fmt.Errorf("setio: table %d: %w", number, err)
	}
	line, err := json.Marshal(w)
	if err != nil {
		return err
	}
	emit(line)
	return nil
}

// createTable writes a table of all keys of m. The file gets its name when it is complete and
// on disk.
func createTable(dir string, number int64, o *table.WriterOptions, m *merger) (t set.Table, err error) {
	f, err := atomicfile.Create(filepath.Join(dir, pendingName))
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, f.Abort()) }() // does nothing after Commit
	w, err := set.NewTableWriter(f, o)
	if err != nil {
		return t, err
	}
	if err := m.all(func(key []byte) error { return w.Append(key, nil) }); err != nil {
		return t, errors.Join(err, w.Abort())
	}
	if t, err = w.Close(); err != nil {
		return t, err
	}
	t.Name = tableName(number, t.SHA256, o != nil && o.FilterOnly)
	if err := f.SetName(t.Name); err != nil {
		return t, err
	}
	return t, atomicfile.Commit(f)
}
