// Package upload uploads the set of a directory to a store.
package upload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// sendAgain is the age at which a table that no manifest lists is uploaded again, since a sweep may be deleting it.
const sendAgain = 12 * time.Hour

// An Upload is an upload of a directory's set to a store.
type Upload struct {
	Manifest *set.Manifest   // with the tables' names in the store
	Missing  []set.Table     // still to be uploaded
	Sent     map[string]bool // names of uploaded tables

	// Same reports whether the store's manifest equals the set's.
	Same bool

	from  *set.DirStore
	files map[string]string // from names in the store to names in the directory
	to    set.Store
	name  string        // of the manifest in the store
	old   *set.Manifest // in the store; may be nil
}

// Plan reads the set in directory dir and finds the tables that the store lacks. name is the manifest's name in the
// store.
func Plan(ctx context.Context, dir string, to set.Store, name string) (*Upload, error) {
	u := &Upload{from: &set.DirStore{Dir: dir}, to: to, name: name, Sent: map[string]bool{}}
	var err error
	u.Manifest, err = set.LoadManifest(ctx, u.from, set.ManifestName)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = fmt.Errorf("%w; to make a set, run: sst build FILE -o NEW/, or for a database: sst merge DIR -o NEW/", err)
	}
	if err != nil {
		return nil, err
	}
	u.files = rename(u.Manifest)
	u.old, err = set.LoadManifest(ctx, to, name)
	if errors.Is(err, table.ErrCorrupt) {
		err = fmt.Errorf("%w; delete this object, or choose another name with --manifest", err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	u.Same = reflect.DeepEqual(u.old, u.Manifest)
	return u, u.look(ctx)
}

// Dropped returns the number of layers in the store's set that the new set lacks: they were merged into it, or
// their changes are lost.
func (u *Upload) Dropped() (layers int) {
	if u.old == nil {
		return 0
	}
	has := map[string]bool{}
	for t := range u.Manifest.All() {
		has[t.SHA256] = true
	}
	for _, l := range u.old.Layers {
		if slices.ContainsFunc(slices.Concat(l.Tables, l.Removals), func(t set.Table) bool { return !has[t.SHA256] }) {
			layers++
		}
	}
	return layers
}

// look updates Missing from a list of the store's objects.
func (u *Upload) look(ctx context.Context) error {
	files, err := u.to.List(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // Send creates a missing directory
		return fmt.Errorf("list %s: %w", u.to.Path(""), err)
	}
	there := map[string]set.File{}
	for _, f := range files {
		there[f.Name] = f
	}
	listed := map[string]bool{}
	addNames(listed, u.old)
	if u.compare(there, listed) {
		if err := u.addOthers(ctx, there, listed); err != nil {
			return err
		}
		u.compare(there, listed)
	}
	return nil
}

// addNames adds the names of the tables of m, which may be nil.
func addNames(listed map[string]bool, m *set.Manifest) {
	for t := range m.All() {
		listed[t.Name] = true
	}
}

// addOthers adds the names of the tables of all other manifests, recognized by their extension.
func (u *Upload) addOthers(ctx context.Context, there map[string]set.File, listed map[string]bool) error {
	for name := range there {
		if name == u.name || filepath.Ext(name) != ".jsonl" {
			continue
		}
		m, err := set.LoadManifest(ctx, u.to, name)
		switch {
		case errors.Is(err, table.ErrCorrupt): // another program's file
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
		case err != nil:
			return err
		}
		addNames(listed, m)
	}
	return nil
}

// compare sets Missing to the tables that the store lacks. listed contains the tables that its manifests list.
// again reports whether a stored table must be uploaded again because it is old and unlisted.
func (u *Upload) compare(there map[string]set.File, listed map[string]bool) (again bool) {
	u.Missing = nil
	for t := range u.Manifest.All() {
		f, ok := there[t.Name]
		ok = ok && f.Size == t.Size
		if ok && (listed[t.Name] || u.Sent[t.Name] || time.Since(f.Modified) < sendAgain) {
			continue
		}
		again = again || ok
		u.Missing = append(u.Missing, *t)
	}
	return again
}
