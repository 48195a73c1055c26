package setio

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	all, pieces, err := readWritten(tables)
	if err != nil {
		return err
	}
	if err := balance(ledger, pieces, fn.Lines); err != nil {
		return err
	}
	return withStore(ctx, fn.Target.Dir, func(st store) error {
		path, err := fn.Target.publish(ctx, st, layerOf(all))
		if err != nil {
			return err
		}
		if err := st.remove(ctx, fn.Target.Lease); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("setio: %w", err)
		}
		emit(path)
		return nil
	})
}

// readWritten returns what is written, in the order of the keys, and of how many pieces.
func readWritten(tables func(*[]byte) bool) (all []written, pieces int64, err error) {
	for line := []byte(nil); tables(&line); {
		var w written
		if err := json.Unmarshal(line, &w); err != nil {
			return nil, 0, fmt.Errorf("setio: what a worker says of its table: %w", err)
		}
		pieces += w.Pieces
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b written) int { return cmp.Compare(a.Number, b.Number) })
	return all, pieces, nil
}

// layerOf returns the tables.
func layerOf(all []written) (l set.Layer) {
	for _, w := range all {
		if w.Table != nil {
			l.Tables = append(l.Tables, *w.Table)
		}
		if w.Removals != nil {
			l.Removals = append(l.Removals, *w.Removals)
		}
	}
	return l
}

// publish writes the manifest of the tables, and returns its path. It has the lock meanwhile, so that Sweep
// removes no table that it has seen, and no other process changes the manifest that gets a layer.
func (t *target) publish(ctx context.Context, st store, l set.Layer) (path string, err error) {
	unlock, err := lockIfPossible(ctx, st)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := checkTables(ctx, st, l); err != nil {
		return "", err
	}
	if !t.Layer {
		return writeManifest(ctx, st, &set.Manifest{Tables: l.Tables})
	}
	return t.publishLayer(ctx, st, l)
}

// publishLayer adds the layer to the manifest that is there.
func (t *target) publishLayer(ctx context.Context, st store, l set.Layer) (path string, err error) {
	base, err := readManifest(ctx, st)
	if err == nil {
		err = t.checkBase(st, base)
	}
	if err != nil {
		return "", err
	}
	m, err := addLayer(ctx, st, base, l)
	if err != nil {
		return "", err
	}
	if m == base {
		return st.path(set.ManifestName), nil
	}
	return writeManifest(ctx, st, m)
}

// checkTables checks that the files of all tables are there: that the workers share the directory.
func checkTables(ctx context.Context, st store, l set.Layer) error {
	for _, t := range slices.Concat(l.Tables, l.Removals) {
		size, err := st.size(ctx, t.Name)
		if err != nil {
			return fmt.Errorf("setio: table %s, which a worker has written: %w: want a directory that all workers "+
				"share, or build again if Sweep has removed it", st.path(t.Name), err)
		}
		if size != t.Size {
			return fmt.Errorf("setio: table %s has %d bytes, want %d: want a directory that all workers share",
				st.path(t.Name), size, t.Size)
		}
	}
	return nil
}
