// Package upload sends the set of a directory to a store.
package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// sendAgain is the age of a table that is sent again if no manifest of the store lists it. A sweep may be about to
// delete it.
const sendAgain = 12 * time.Hour

// An Upload is the set of a directory that is to be sent, and what of it the store has.
type Upload struct {
	Manifest *set.Manifest   // with the names in the store
	Missing  []set.Table     // that are to be sent
	Sent     map[string]bool // the names of tables that were sent

	// Same reports whether the store's manifest is that of the set.
	Same bool

	from  *set.DirStore
	files map[string]string // names in the directory, by those in the store
	to    set.Store
	name  string        // of the manifest in the store
	old   *set.Manifest // that the store has; nil: there is none
}

// Plan reads the set of the directory dir, and finds out what of it the store lacks. name is that of the manifest in
// the store.
func Plan(ctx context.Context, dir string, to set.Store, name string) (*Upload, error) {
	u := &Upload{from: &set.DirStore{Dir: dir}, to: to, name: name, Sent: map[string]bool{}}
	var err error
	u.Manifest, err = set.LoadManifest(ctx, u.from, set.ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is no set, want a directory with %s: %w", dir, set.ManifestName, err)
	}
	if err != nil {
		return nil, err
	}
	u.files = rename(u.Manifest)
	u.old, err = set.LoadManifest(ctx, to, name)
	if errors.Is(err, table.ErrCorrupt) {
		err = fmt.Errorf("%w: put does not replace what it cannot read: delete that object, or give another --manifest", err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	u.Same = same(u.old, u.Manifest)
	return u, u.look(ctx)
}

// same reports whether two manifests have the same file. nil has none.
func same(a, b *set.Manifest) bool {
	return (a == nil) == (b == nil) && (a == nil || bytes.Equal(encoded(a), encoded(b)))
}

// encoded returns the file of a manifest that was read.
func encoded(m *set.Manifest) []byte {
	var b bytes.Buffer
	if err := set.WriteManifest(&b, m); err != nil {
		panic(err) // it was checked
	}
	return b.Bytes()
}

// look finds out what the store lacks now.
func (u *Upload) look(ctx context.Context) error {
	files, err := u.to.List(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // as that of a directory that Send makes
		return fmt.Errorf("%s: list the files: %w", u.to.Path(""), err)
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
	if m == nil {
		return
	}
	for t := range m.All() {
		listed[t.Name] = true
	}
}

// addOthers adds the names of the tables of all other manifests, which are found by their extension.
func (u *Upload) addOthers(ctx context.Context, there map[string]set.File, listed map[string]bool) error {
	for name := range there {
		if name == u.name || filepath.Ext(name) != ".jsonl" {
			continue
		}
		m, err := set.LoadManifest(ctx, u.to, name)
		switch {
		case errors.Is(err, table.ErrCorrupt): // it is of another program
		case errors.Is(err, fs.ErrNotExist): // it was deleted meanwhile
		case err != nil:
			return err
		}
		addNames(listed, m)
	}
	return nil
}

// compare finds out what the store lacks. listed are the tables that its manifests list. again reports whether a table is
// to be sent although it is there, because it is old.
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
