package set

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/table"
)

// commit stores the tables and writes the manifest.
func (b *Builder) commit() (Layer, error) {
	base, err := readBase(b.ctx, b.store, &b.o)
	if err != nil {
		return Layer{}, err
	}
	if len(b.tables) == 0 && (b.o.Layer || len(base.names()) > 0) {
		return Layer{}, unchanged(b.store)
	}
	last := 0
	if b.o.Layer {
		last = lastNumber(base.Manifest)
	}
	l, err := b.storeTables(last)
	if err != nil {
		return Layer{}, err
	}
	l, err = base.add(b.ctx, b.store, l, &b.o)
	if errors.Is(err, ErrGone) {
		err = b.restore(err)
	}
	return l, err
}

// unchanged returns the error for a build without entries.
func unchanged(s Store) error {
	return fmt.Errorf("set: %s is unchanged: %w", s.Path(ManifestName), ErrEmpty)
}

// storeTables stores the tables under their names, and returns them. Except for parts, names are numbered from
// last+1.
func (b *Builder) storeTables(last int) (l Layer, err error) {
	extension := ".ldb"
	if b.o.Writer != nil && b.o.Writer.FilterOnly {
		extension = ".filter" // LevelDB would read it as an empty table
	}
	found := make([]bool, len(b.tables))
	for i := range b.tables {
		t := &b.tables[i]
		if b.o.Part > 0 {
			t.Name = fmt.Sprintf("%06d-%s%s", b.o.Part, t.SHA256, extension)
		} else {
			t.Name = fmt.Sprintf("%06d-%s%s", last+1+i, t.SHA256[:16], extension)
		}
		if b.isRemovals[i] {
			l.Removals = append(l.Removals, *t)
		} else {
			l.Tables = append(l.Tables, *t)
		}
		if b.o.Stored != nil {
			there, err := b.store.Stat(b.ctx, t.Name)
			found[i] = err == nil && there.Size == t.Size
		}
	}
	if err := b.pending.Publish(b.ctx, b.tables); err != nil {
		return l, err
	}
	for i, t := range b.tables {
		if b.o.Stored != nil {
			b.o.Stored(t, found[i])
		}
	}
	return l, nil
}

// maxNumber limits the numbers in names. A larger one is a date or a hash.
const maxNumber = 1e9

// lastNumber returns the largest number at the start of a table's name.
func lastNumber(m *Manifest) (last int) {
	for t := range m.All() {
		n := 0
		if _, err := fmt.Sscanf(t.Name, "%d", &n); err == nil && n < maxNumber {
			last = max(last, n)
		}
	}
	return last
}

// Publish writes the manifest of tables that are already in the Store, such as all parts of a set. They become a set
// or, with Layer, its newest layer. If a table is missing, the error is [ErrMissing]. Publish can be repeated: it
// changes nothing if the layer is still the newest one or, once Lease has ended, below newer ones. Without tables,
// Publish does not replace a set: the error is [ErrEmpty]. Publish uses Layer, Check and Lease of o. If o is nil, the
// defaults are used.
func Publish(ctx context.Context, s Store, l Layer, o *BuilderOptions) (err error) {
	o = cmp.Or(o, &BuilderOptions{})
	if err := cmp.Or(checkStore(s), checkLeaseName(o.Lease)); err != nil {
		return err
	}
	if len(l.Removals) > 0 && !o.Layer {
		return errors.New("set: Removals without Layer: a new set has nothing to remove")
	}
	if len(l.Tables) == 0 && !o.Layer { // all parts are empty, and may have left no Store
		var p Pending
		if p, err = s.Begin(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Abort()) }()
	}
	return exclusively(ctx, s, o.Lease, func() error {
		if err := checkExist(ctx, s, &Manifest{Layers: []Layer{l}}); err != nil {
			return err
		}
		base, err := readBase(ctx, s, o)
		if err == nil && len(l.Tables) == 0 && !o.Layer && len(base.names()) > 0 {
			err = unchanged(s)
		}
		if err != nil {
			return err
		}
		if published, err := base.has(ctx, s, l, o); published || err != nil {
			return err
		}
		_, err = base.add(ctx, s, l, o)
		return err
	})
}

// PublishManifest writes a whole manifest, with its layers, to the file name of the Store. If check is not nil, it
// is called with the old manifest, or nil. If check returns an error, the old manifest stays. If a table is missing,
// it stays too, and the error is [ErrMissing]. If the Store is a [Replacer], tables are checked only after the
// manifest is written: if one is missing, the error is [ErrGone], and the new manifest stays.
func PublishManifest(ctx context.Context, s Store, name string, m *Manifest, check func(old *Manifest) error) error {
	if err := cmp.Or(checkStore(s), m.Check()); err != nil {
		return err
	}
	replace := func() error {
		old, err := readStored(ctx, s, name)
		if err == nil && check != nil {
			err = check(old.Manifest)
		}
		if err != nil {
			return err
		}
		return old.replace(ctx, s, m)
	}
	if _, ok := s.(Replacer); ok {
		return replace()
	}
	return exclusively(ctx, s, "", func() error {
		if err := checkExist(ctx, s, m); err != nil {
			return err
		}
		return replace()
	})
}

// readBase reads and checks the manifest that is to be replaced or extended by a layer.
func readBase(ctx context.Context, s Store, o *BuilderOptions) (storedManifest, error) {
	base, err := readStored(ctx, s, ManifestName)
	if errors.Is(err, table.ErrCorrupt) {
		err = fmt.Errorf("%w: remove it, or write to another directory", err)
	}
	if err == nil && base.Manifest == nil && o.Layer {
		err = fmt.Errorf("set: %s: %w: no set to add a layer to; build one without Layer",
			s.Path(ManifestName), fs.ErrNotExist)
	}
	if err == nil && o.Check != nil {
		err = o.Check(base.Manifest)
	}
	return base, err
}

// checkExist checks that all tables of m are in the Store.
func checkExist(ctx context.Context, s Store, m *Manifest) error {
	missing, err := firstMissing(ctx, s, m, nil)
	if err == nil && missing != nil {
		err = fmt.Errorf("set: %s, of %d bytes: %w: all workers must write to the same Store; "+
			"if Sweep has removed the table, write it again", s.Path(missing.Name), missing.Size, ErrMissing)
	}
	return err
}

// firstMissing returns the first table of m that the Store lacks, or nil. If also is not nil, it skips tables whose
// names are not in also.
func firstMissing(ctx context.Context, s Store, m *Manifest, also nameSet) (*Table, error) {
	files, err := s.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("set: list the tables: %w", err)
	}
	there := map[string]File{}
	for _, f := range files {
		there[f.Name] = f
	}
	for t := range m.All() {
		if also != nil && !also.has(t.Name) {
			continue
		}
		f, ok := there[t.Name]
		if ok && f.Size < 0 {
			f, err = s.Stat(ctx, t.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("set: table %s: %w", s.Path(t.Name), err)
		}
		if !ok || f.Size != t.Size {
			return t, nil
		}
	}
	return nil, nil
}

// has reports whether l has been published: it is empty, or the newest layer. It may also be below newer layers if its
// lease has ended, which another build of the same tables has not.
func (old storedManifest) has(ctx context.Context, s Store, l Layer, o *BuilderOptions) (bool, error) {
	if old.Manifest == nil {
		return false, nil
	}
	n, places := len(old.Layers), old.Layers
	if !o.Layer {
		places = []Layer{{Tables: old.Tables}}
	}
	isIt := func(m Layer) bool {
		return m.equal(l, func(a, b Table) bool { return a.SHA256 == b.SHA256 })
	}
	switch {
	case o.Layer && (len(l.Tables)+len(l.Removals) == 0 || n > 0 && isIt(old.Layers[n-1])):
		return true, nil
	case !slices.ContainsFunc(places, isIt):
		return false, nil
	}
	return hasEnded(ctx, s, o.Lease)
}

// add writes a manifest with the tables, alone or as a layer. It returns them with their names in the manifest. If
// another program has added a layer meanwhile, it is kept.
func (old storedManifest) add(ctx context.Context, s Store, tables Layer, o *BuilderOptions) (Layer, error) {
	for {
		l := tables // with the original names: Sweep recognizes names with one suffix
		m := &Manifest{Tables: l.Tables}
		if o.Layer {
			if err := old.renameTaken(ctx, s, &l); err != nil {
				return l, err
			}
			m = &Manifest{Tables: old.Tables, Layers: append(slices.Clip(old.Layers), l)}
		}
		err := old.replace(ctx, s, m)
		if !o.Layer || !errors.Is(err, ErrChanged) {
			return l, err
		}
		old, err = readBase(ctx, s, o)
		switch {
		case old.Manifest == nil && errors.Is(err, fs.ErrNotExist): // deleted meanwhile
			return l, err
		case old.Manifest == nil:
			return l, fmt.Errorf("the layer may or may not have been added: %w", err)
		}
		// The Store may have lost a response, and the other program's layer may be above this one. It must stay there.
		same := func(a, b Table) bool { return a.Name == b.Name && a.SHA256 == b.SHA256 }
		if slices.ContainsFunc(old.Layers, func(m Layer) bool { return m.equal(l, same) }) {
			return l, checkStillExist(ctx, s, old.name, old.Manifest)
		}
		if err != nil {
			return l, err
		}
	}
}

// renameTaken renames tables whose names are taken because older layers have the same tables. Since a manifest lists
// each name once, the tables are copied.
func (old storedManifest) renameTaken(ctx context.Context, s Store, l *Layer) error {
	taken := old.names()
	l.Tables, l.Removals = slices.Clone(l.Tables), slices.Clone(l.Removals)
	for _, run := range [][]Table{l.Tables, l.Removals} {
		for i := range run {
			t, name := &run[i], run[i].Name
			for n := 2; taken.has(t.Name); n++ {
				ext := path.Ext(name)
				t.Name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
			}
			taken.add(t.Name)
			if t.Name == name {
				continue
			}
			if err := copyTable(ctx, s, name, *t); err != nil {
				return fmt.Errorf("set: copy table %s, also in an older layer: %w", s.Path(name), err)
			}
		}
	}
	return nil
}
