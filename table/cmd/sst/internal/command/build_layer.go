package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/partition"
	"github.com/sievetable/sievetable/table/set"
)

// checkLayer checks the flags of a layer, and sets the directory of the set.
func (f *buildFlags) checkLayer(given func(name string) bool) error {
	if f.layerOf == "" {
		return nil
	}
	switch {
	case f.internalKeys:
		return errNoInternalKeys
	case f.filterOnly && f.delete != "":
		return errNoRemoval
	}
	if !given("bits") && !given("table-filter") && !f.filterOnly {
		f.tableFilter = tablefilter.TableBloom(10)
	}
	if f.out = f.layerOf; filepath.Base(f.out) == set.ManifestName {
		f.out = filepath.Dir(f.out)
	}
	return nil
}

// errNoRemoval is the error for a removal from a set that cannot show what its filters have.
var errNoRemoval = cli.UsageErrorf("a set with filters only cannot have removals, since its filters cannot be read as keys: build it anew from the keys")

// readLists reads the keys of --never and --delete.
func (b *build) readLists() error {
	if b.delete != "" {
		o := b.read.Options
		o.KeysOnly = true
		if err := b.readList(&b.removed, b.delete, o); err != nil {
			return err
		}
	}
	return b.readNever()
}

// appendLayer appends the pairs, and then the keys to remove, if there are any.
func (b *build) appendLayer(w *partition.Writer) error {
	if b.delete == "" {
		return b.appendAll(w)
	}
	removed := b.removed.r.NewIter(nil)
	a := &additions{appender: w, removed: removed, more: removed.Next(), file: b.delete}
	err := b.appendAll(a)
	if err := errors.Join(err, removed.Close()); err != nil {
		return err
	}
	if err := w.BeginRemovals(b.newRemovals); err != nil {
		return filterfile.ExplainTooManyKeys(err)
	}
	for e, err := range b.removed.r.All(&table.IterOptions{ReadAhead: 256 << 10}) {
		if err == nil {
			err = w.Append(e.Key, nil)
		}
		if err != nil {
			return filterfile.ExplainTooManyKeys(err)
		}
	}
	return nil
}

// additions appends the pairs of a layer, unless their keys are removed too.
type additions struct {
	appender
	removed *table.Iter
	more    bool   // removed has an entry
	file    string // of the keys that are removed
}

func (a *additions) Append(key, value []byte) error {
	for a.more && bytes.Compare(a.removed.Key(), key) < 0 {
		a.more = a.removed.Next()
	}
	if a.more && bytes.Equal(a.removed.Key(), key) {
		return fmt.Errorf("key %s is both in the input and in %s, whose keys are removed: want it in one of them", wire.Quote(key), text.ShellPath(a.file))
	}
	return a.appender.Append(key, value)
}

// newRemovals returns the writer of a table of keys to remove. Most lookups ask it for a key that it does not
// have. So it has both kinds of filter, whatever the other tables have.
func (b *build) newRemovals(to io.Writer) (partition.TableWriter, error) {
	o := *b.options
	o.FilterPolicy, o.TableFilterPolicy = filter.NewBloom(10), tablefilter.Checked{TablePolicy: filter.NewTableBloom(10)}
	o.FilterPrefix, o.Never = nil, nil
	return b.newPart(to, &o, new(keyRange))
}

// fits returns an error if tables of these flags do not fit to the tables of a set.
func (b *build) fits(m *set.Manifest) error {
	only, known, err := b.isFilterOnly(m)
	switch {
	case known && only && b.delete != "":
		return errNoRemoval
	case known && only && !b.filterOnly:
		return cli.UsageErrorf("%s is a set with filters only: want --filter-only, or build it anew from the keys", b.layerOf)
	case known && !only && b.filterOnly:
		return cli.UsageErrorf("--filter-only is given, but %s is a set with keys: leave it out", b.layerOf)
	}
	if err != nil {
		return fmt.Errorf("no table of %s says whether it is a set with filters only: %w", b.layerOf, err)
	}
	return nil
}

// isFilterOnly reports whether the tables of a set have filters only, as far as it is known: a set without
// pairs has none that say.
func (b *build) isFilterOnly(m *set.Manifest) (only, known bool, err error) {
	runs := [][]set.Table{m.Tables}
	for _, l := range m.Layers {
		runs = append(runs, l.Tables)
	}
	for _, run := range runs {
		for _, t := range run {
			f, failed := dbfile.Open(filepath.Join(b.out, t.Name), dbfile.Options{ScanOnly: true})
			if failed == nil {
				return f.Reader.FilterOnly(), true, f.Close()
			}
			err = cmp.Or(err, failed) // which another table may say
		}
	}
	return false, false, err
}
