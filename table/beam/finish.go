package setio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/table/set"
)

// finish writes the manifest.
type finish struct {
	Target target
	Lines  bool // at least one input file is required
}

// ProcessElement writes the manifest if no file or piece is missing, and emits its path. It takes splits so that the
// directory has been prepared even if there are no tables.
func (fn *finish) ProcessElement(ctx context.Context, _ []byte, splits func(*[]byte) bool,
	ledger func(*string, *int64) bool, tables func(*[]byte) bool, emit func(string),
) error {
	if p := piece(nil); !splits(&p) {
		return errNoSplits
	}
	layer, err := readTables(tables)
	if err == nil {
		err = balance(ledger, fn.Lines)
	}
	if err != nil {
		return err
	}
	return withStore(ctx, fn.Target.Dir, func(st set.Store) error {
		o, err := fn.Target.options(st)
		if err == nil {
			err = set.Publish(ctx, st, layer, o)
		}
		if err == nil {
			emit(st.Path(set.ManifestName))
		}
		return err
	})
}

// readTables returns the tables that writeTable has emitted, in key order.
func readTables(tables func(*[]byte) bool) (l set.Layer, err error) {
	for line := []byte(nil); tables(&line); {
		var written set.Layer
		if err := json.Unmarshal(line, &written); err != nil {
			return l, fmt.Errorf("setio: invalid table description from a worker: %w", err)
		}
		l.Tables, l.Removals = append(l.Tables, written.Tables...), append(l.Removals, written.Removals...)
	}
	byKey := func(a, b set.Table) int { return bytes.Compare(a.Smallest, b.Smallest) }
	slices.SortFunc(l.Tables, byKey)
	slices.SortFunc(l.Removals, byKey)
	return l, nil
}
