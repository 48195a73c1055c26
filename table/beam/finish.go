package setio

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/table/set"
)

// finish writes the manifest.
type finish struct {
	Target target
	Lines  bool // there must be files of lines
}

// ProcessElement writes the manifest if all files and pieces arrived in tables, and emits its path.
// tables are of type written, in JSON. splits are there so that the directory is prepared, also if there
// are no tables.
func (fn *finish) ProcessElement(ctx context.Context, _ []byte, splits func(*[]byte) bool,
	ledger func(*string, *int64) bool, tables func(*[]byte) bool, emit func(string),
) error {
	if p := piece(nil); !splits(&p) {
		return errNoSplits
	}
	layer, pieces, err := readWritten(tables)
	if err != nil {
		return err
	}
	if err := balance(ledger, pieces, fn.Lines); err != nil {
		return err
	}
	return withStore(ctx, fn.Target.Dir, func(st set.Store) error {
		o, err := fn.Target.options(st)
		if err == nil {
			err = set.Publish(ctx, st, layer, o)
		}
		if err != nil {
			return err
		}
		emit(st.Path(set.ManifestName))
		return nil
	})
}

// readWritten returns the tables, in the order of the keys, and of how many pieces they are.
func readWritten(tables func(*[]byte) bool) (l set.Layer, pieces int64, err error) {
	var all []written
	for line := []byte(nil); tables(&line); {
		var w written
		if err := json.Unmarshal(line, &w); err != nil {
			return l, 0, fmt.Errorf("setio: what a worker says of its table: %w", err)
		}
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b written) int { return cmp.Compare(a.Number, b.Number) })
	for _, w := range all {
		pieces += w.Pieces
		l.Tables, l.Removals = append(l.Tables, w.Tables...), append(l.Removals, w.Removals...)
	}
	return l, pieces, nil
}
