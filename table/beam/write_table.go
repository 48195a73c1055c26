package setio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/table/set"
)

// writeTable writes the entries of pieces to a table, and removals to another.
type writeTable struct {
	Target target
}

// ProcessElement merges the pieces into tables, and emits these as the JSON of a set.Layer.
func (fn *writeTable) ProcessElement(
	ctx context.Context, number int64, pieces func(*[]byte) bool, emit func([]byte), ledger func(string, int64),
) error {
	var m merger
	for p := piece(nil); pieces(&p); {
		if err := m.add(p); err != nil {
			return err
		}
	}
	return withStore(ctx, fn.Target.Dir, func(st set.Store) error {
		l, err := fn.write(ctx, st, &m, number)
		if err != nil {
			return fmt.Errorf("setio: table %d: %w", number, err)
		}
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		emit(line)
		ledger(cutPieces, -m.pieces)
		return nil
	})
}

// write writes the entries of m.
func (fn *writeTable) write(ctx context.Context, st set.Store, m *merger, number int64) (l set.Layer, err error) {
	o, err := fn.Target.options(st)
	if err != nil {
		return l, err
	}
	o.Part, o.Stored = int(number), func(t set.Table, found bool) { countTable(ctx, t, found) }
	b, err := set.NewBuilder(ctx, st, o)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, b.Abort()) }() // does nothing after Commit
	err = m.all(func(key, value []byte) error {
		if value, removed := splitValue(value); !removed {
			return b.Append(key, value)
		}
		return b.Remove(key)
	})
	if err != nil {
		return l, err
	}
	return b.Commit()
}

// countTable counts a stored table.
func countTable(ctx context.Context, t set.Table, found bool) {
	keysWritten.Inc(ctx, int64(t.Entries))
	if found {
		tablesFound.Inc(ctx, 1)
		return
	}
	tablesWritten.Inc(ctx, 1)
	bytesWritten.Inc(ctx, t.Size)
}
