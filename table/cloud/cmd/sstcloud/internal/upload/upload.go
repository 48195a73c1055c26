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

	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

// SendAgain is the age of an object that is sent again if no manifest of the store lists it. A sweep may
// be about to delete it.
const SendAgain = 12 * time.Hour

// An Upload is the set of a directory that is to be sent, and what of it the store has.
type Upload struct {
	Manifest *set.Manifest // with the names of the objects
	Tables   []set.Table   // that are to be sent
	There    []set.Table   // that the store has

	// Same reports whether the store's manifest is that of the set.
	Same bool

	dir   string
	files map[string]string // by the names of the objects
	key   string            // of the manifest
}

// Plan reads the set of the directory dir, and finds out what of it the store lacks. key is the name
// of the manifest in the store.
func Plan(ctx context.Context, dir string, s *store.Store, key string) (*Upload, error) {
	m, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	u := &Upload{dir: dir, key: key}
	u.Manifest, u.files = rename(m)
	there, err := s.ReadManifest(ctx, key)
	if damaged := new(store.ManifestError); errors.As(err, &damaged) {
		return nil, fmt.Errorf("%w: put does not replace what it cannot read: delete that object, or give another --manifest", damaged)
	}
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return nil, err
	}
	objects, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	u.Same = there != nil && bytes.Equal(encoded(there), encoded(u.Manifest))
	listed := map[string]bool{}
	addNames(listed, there)
	if again := u.compare(listed, objects); again {
		delete(objects, key) // which was read
		if err := addOthers(ctx, listed, s, objects); err != nil {
			return nil, err
		}
		u.compare(listed, objects)
	}
	return u, nil
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

// addOthers adds the names of the tables of all manifests that are found by their extension.
func addOthers(ctx context.Context, listed map[string]bool, s *store.Store, objects map[string]store.Object) error {
	for key := range objects {
		if filepath.Ext(key) != ".jsonl" {
			continue
		}
		m, err := s.ReadManifest(ctx, key)
		if err != nil && !errors.As(err, new(*store.ManifestError)) { // which is of another program
			return err
		}
		addNames(listed, m)
	}
	return nil
}

// readDir reads the manifest of the set in a directory.
func readDir(path string) (*set.Manifest, error) {
	dir := set.NewDir(path)
	defer dir.Close() // it was only read
	m, err := dir.ReadManifest()
	name := filepath.Join(path, set.ManifestName)
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is no set, want a directory with %s: %w", path, set.ManifestName, err)
	case errors.As(err, new(*fs.PathError)):
		return nil, err
	}
	return nil, &store.ManifestError{Name: name, Cause: err}
}

// compare finds out what the store lacks. listed are the tables that its manifests list. again reports
// whether a table that is to be sent is in the store, and old.
func (u *Upload) compare(listed map[string]bool, objects map[string]store.Object) (again bool) {
	u.Tables, u.There = nil, nil
	for t := range u.Manifest.All() {
		o, ok := objects[t.Name]
		there := ok && o.Size == t.Size
		if there && (listed[t.Name] || time.Since(o.Modified) < SendAgain) {
			u.There = append(u.There, *t)
			continue
		}
		again = again || there
		u.Tables = append(u.Tables, *t)
	}
	return again
}

// encoded returns the file of a manifest that was read.
func encoded(m *set.Manifest) []byte {
	var b bytes.Buffer
	if err := set.WriteManifest(&b, m); err != nil {
		panic(err) // it was checked
	}
	return b.Bytes()
}

// Send sends the tables, several at a time, and then the manifest. sent is called for each table, by
// any goroutine. After an error the manifest in the store is as before.
func (u *Upload) Send(ctx context.Context, s *store.Store, concurrency int, sent func(set.Table)) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, t := range u.Tables {
		g.Go(func() error {
			if gctx.Err() != nil {
				return gctx.Err()
			}
			err := cloud.SendFile(gctx, s.Bucket, filepath.Join(u.dir, u.files[t.Name]), t)
			if err == nil {
				sent(t)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil || u.Same {
		return err
	}
	return cloud.WriteManifest(ctx, s.Bucket, u.key, u.Manifest)
}
