package setio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// writeTable writes a table of pieces, and one of the keys that they remove.
type writeTable struct {
	Target target
}

// A written is what is written of a range of keys. It travels as JSON.
type written struct {
	Number   int64      // of the range: 1 for that with the smallest keys
	Pieces   int64      // that it was made of
	Table    *set.Table // nil if there are no entries
	Removals *set.Table // nil if there are none
}

// ProcessElement merges the pieces to tables, and emits a written.
func (fn *writeTable) ProcessElement(
	ctx context.Context, number int64, pieces func(*[]byte) bool, emit func([]byte),
) error {
	w := written{Number: number}
	var m merger
	for p := piece(nil); pieces(&p); w.Pieces++ {
		if err := m.add(p); err != nil {
			return err
		}
	}
	if err := withStore(ctx, fn.Target.Dir, func(st store) error { return fn.write(ctx, st, &m, &w) }); err != nil {
		return fmt.Errorf("setio: table %d: %w", number, err)
	}
	line, err := json.Marshal(w)
	if err != nil {
		return err
	}
	emit(line)
	return nil
}

// write writes the tables of all entries of m.
func (fn *writeTable) write(ctx context.Context, st store, m *merger, w *written) (err error) {
	if err := writeLease(ctx, st, fn.Target.Lease); err != nil {
		return err
	}
	o, err := writerOptions(fn.Target.Writer)
	if err != nil {
		return err
	}
	entries, removals := &tableFile{store: st, o: o}, &tableFile{store: st, o: forRemovals(o)}
	defer func() { err = errors.Join(err, entries.abort(), removals.abort()) }() // nothing after commit
	err = m.all(func(key, value []byte) error {
		if value, removed := splitValue(value); !removed {
			return entries.append(key, value)
		}
		return removals.append(key, nil)
	})
	if err != nil {
		return err
	}
	if w.Table, err = entries.commit(ctx, w.Number); err != nil {
		return err
	}
	w.Removals, err = removals.commit(ctx, w.Number)
	return err
}

// forRemovals returns the options of tables of removed keys. A key that entries never have may be removed.
func forRemovals(o table.WriterOptions) table.WriterOptions {
	o.Never = nil
	return o
}

// A tableFile is a table that is written to a file, when it has an entry.
type tableFile struct {
	store store
	o     table.WriterOptions

	draft draft // nil as long as there is no entry
	w     *set.TableWriter
}

func (t *tableFile) append(key, value []byte) error {
	if t.draft == nil {
		if err := t.create(); err != nil {
			return err
		}
	}
	return t.w.Append(key, value)
}

// create begins the file.
func (t *tableFile) create() error {
	d, err := t.store.create()
	if err != nil {
		return err
	}
	if t.w, err = set.NewTableWriter(d, &t.o); err != nil {
		return errors.Join(err, d.abort())
	}
	t.draft = d
	return nil
}

// commit gives the file its name, when it is complete and stored. Without entries, it returns nil.
func (t *tableFile) commit(ctx context.Context, number int64) (*set.Table, error) {
	if t.draft == nil {
		return nil, nil
	}
	line, err := t.w.Close()
	if err != nil {
		return nil, err
	}
	t.w = nil
	line.Name = tableName(number, line.SHA256, t.o.FilterOnly)
	found, err := t.draft.commit(ctx, line.Name, line.Size)
	if err != nil {
		return nil, err
	}
	keysWritten.Inc(ctx, int64(line.Entries))
	if found {
		tablesFound.Inc(ctx, 1)
	} else {
		tablesWritten.Inc(ctx, 1)
		bytesWritten.Inc(ctx, line.Size)
	}
	return &line, nil
}

// abort removes the file, unless it has its name.
func (t *tableFile) abort() (err error) {
	if t.w != nil {
		err = t.w.Abort()
	}
	if t.draft != nil {
		err = errors.Join(err, t.draft.abort())
	}
	return err
}

// The extensions of tables. For LevelDB, one with a filter only would be an empty table.
const (
	tableExt  = ".ldb"
	filterExt = ".filter"
)

// tableName returns the name of a table.
func tableName(number int64, sha256 string, filterOnly bool) string {
	ext := tableExt
	if filterOnly {
		ext = filterExt
	}
	return fmt.Sprintf("%06d-%s%s", number, sha256, ext)
}
