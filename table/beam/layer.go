package setio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/table/set"
)

// errNoRemoval is the error for a removal from a set that cannot show what its filters have.
var errNoRemoval = errors.New("setio: a set with filters only cannot have Removals, since its filters cannot be " +
	"read as keys: build it anew from the keys")

// checkBase checks that a layer can be added to the set of that manifest, which may be nil.
func (t *target) checkBase(st store, base *set.Manifest) error {
	if base == nil {
		return fmt.Errorf("setio: %s does not exist, so there is no set to add a layer to: build one without Layer",
			st.path(set.ManifestName))
	}
	o, err := writerOptions(t.Writer)
	if err != nil {
		return err
	}
	for table := range base.All() {
		ext := path.Ext(table.Name)
		switch {
		case ext == filterExt && t.Removals:
			return errNoRemoval
		case ext == filterExt && !o.FilterOnly:
			return fmt.Errorf("setio: %s is of a set with filters only: want a Writer with FilterOnly, or build the "+
				"set anew", st.path(table.Name))
		case ext == tableExt && o.FilterOnly:
			return fmt.Errorf("setio: the Writer has FilterOnly, but %s has keys: want a Writer without it",
				st.path(table.Name))
		}
	}
	return nil
}

// addLayer returns the manifest with a layer on top, whose tables are there. Without tables, or if the
// newest layer is the same, it is base: a runner may do the last step again.
func addLayer(ctx context.Context, st store, base *set.Manifest, l set.Layer) (*set.Manifest, error) {
	if len(l.Tables)+len(l.Removals) == 0 {
		return base, nil
	}
	if n := len(base.Layers); n > 0 && sameTables(base.Layers[n-1].Tables, l.Tables) &&
		sameTables(base.Layers[n-1].Removals, l.Removals) {
		return base, nil
	}
	taken := map[string]bool{}
	for t := range base.All() {
		taken[strings.ToLower(t.Name)] = true
	}
	for _, run := range [][]set.Table{l.Tables, l.Removals} {
		for i := range run {
			if err := rename(ctx, st, &run[i], taken); err != nil {
				return nil, err
			}
		}
	}
	m := *base
	m.Layers = append(slices.Clone(base.Layers), l)
	return &m, nil
}

// sameTables reports whether the tables have the same bytes.
func sameTables(a, b []set.Table) bool {
	return slices.EqualFunc(a, b, func(a, b set.Table) bool { return a.SHA256 == b.SHA256 })
}

// rename gives the table another name if its own is taken: an older layer has the same table. A manifest
// lists a name once, so that the table is copied.
func rename(ctx context.Context, st store, t *set.Table, taken map[string]bool) error {
	name := t.Name
	for i := 2; taken[t.Name]; i++ {
		ext := path.Ext(name)
		t.Name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), i, ext)
	}
	taken[t.Name] = true
	if t.Name == name {
		return nil
	}
	if err := copyFile(ctx, st, name, t.Name, t.Size); err != nil {
		return fmt.Errorf("setio: copy table %s, which an older layer has too: %w", st.path(name), err)
	}
	return nil
}

// copyFile copies a file of that size.
func copyFile(ctx context.Context, st store, from, to string, size int64) (err error) {
	f, err := st.open(ctx, from)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	d, err := st.create()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.abort()) }() // does nothing after commit
	if _, err := io.Copy(d, f); err != nil {
		return err
	}
	_, err = d.commit(ctx, to, size)
	return err
}
