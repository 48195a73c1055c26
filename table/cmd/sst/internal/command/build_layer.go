package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/set"
)

// checkLayer checks the flags for a layer, and sets OUT to the directory of the set.
func (f *buildFlags) checkLayer() error {
	switch {
	case f.layerOf == "":
		return nil
	case f.internal == "yes":
		return errNoInternalKeys
	case f.filterOnly && f.delete != "":
		return errNoRemoval
	}
	if !f.given("bits") && !f.given("table-filter") && !f.filterOnly {
		f.tableFilter = tablefilter.TableBloom(10)
	}
	if f.out = f.layerOf; filepath.Base(f.out) == set.ManifestName {
		f.out = filepath.Dir(f.out)
	}
	return nil
}

// errNoRemoval is the error for a removal from a set of filters, which does not store its keys.
var errNoRemoval = cli.UsageErrorf("keys cannot be removed from a set of filters: build the set again from its keys")

// writeLayer adds a layer to a set: the pairs, and then the keys to remove, if there are any.
func (b *build) writeLayer() error {
	w, err := b.newSetTarget(b.fits)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Commit
	var to appender = w
	if b.removed != nil {
		removed := b.removed.r.NewIter(nil)
		defer removed.Close() // additions returns its error
		removed.First()
		to = &additions{appender: w, removed: removed, file: b.flags.delete}
	}
	return b.fill(to, b.appendPairs, func() error { return b.commitLayer(w) })
}

// commitLayer appends the keys to remove, if there are any, and completes the layer. If there is nothing to add or
// remove, the set is right as it is.
func (b *build) commitLayer(w *setTarget) error {
	if b.removed != nil {
		for e, err := range b.removed.r.All(&table.IterOptions{ReadAhead: 256 << 10}) {
			if err == nil {
				err = w.Remove(e.Key)
			}
			if err != nil {
				return err
			}
		}
	}
	_, err := w.Commit()
	if errors.Is(err, set.ErrEmpty) {
		b.note("nothing to add or remove: no layer was added to %s", w.path)
		return nil
	}
	return err
}

// additions appends the pairs of a layer. If a key is removed too, Append returns an error.
type additions struct {
	appender
	removed *table.Iter
	file    string // of --delete
}

func (a *additions) Append(key, value []byte) error {
	for a.removed.Valid() && bytes.Compare(a.removed.Key(), key) < 0 {
		a.removed.Next()
	}
	if err := a.removed.Error(); err != nil {
		return err
	}
	if a.removed.Valid() && bytes.Equal(a.removed.Key(), key) {
		return fmt.Errorf("key %s is both in the input and in --delete %s: remove it from one of them", format.Quote(key), format.ShellPath(a.file))
	}
	return a.appender.Append(key, value)
}

// fits returns an error if the layer does not suit the set: either both have only filters, or neither.
func (b *build) fits(m *set.Manifest) error {
	only, known, err := b.isFilterOnly(m)
	switch {
	case known && only && b.removed != nil:
		return errNoRemoval
	case known && only && !b.filterOnly:
		return cli.UsageErrorf("%s is a set of filters: use --filter-only", b.flags.layerOf)
	case known && !only && b.filterOnly:
		return cli.UsageErrorf("%s is a set with keys: leave out --filter-only", b.flags.layerOf)
	case err != nil:
		return fmt.Errorf("no table of %s can be opened, to see whether it is a set of filters: %w", b.flags.layerOf, err)
	}
	return nil
}

// isFilterOnly reports whether the tables of a set have only filters. known is false if no table can be opened, or if
// the set has no pairs: tables of removals do not tell.
func (b *build) isFilterOnly(m *set.Manifest) (only, known bool, err error) {
	tables := slices.Clone(m.Tables)
	for _, l := range m.Layers {
		tables = append(tables, l.Tables...)
	}
	for _, t := range tables {
		f, failed := dbfile.Open(filepath.Join(b.out, t.Name), dbfile.Options{ScanOnly: true})
		if failed == nil {
			only, failed = f.FilterOnly()
			f.Close() // it was only read
		}
		if failed == nil {
			return only, true, nil
		}
		err = cmp.Or(err, failed) // another table may tell
	}
	return false, false, err
}
