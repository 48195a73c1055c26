// Package upload sends the set of a directory to a store.
package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

// SendAgain is the age of an object that is sent again if no manifest of the store lists it. A sweep may
// be about to delete it.
const SendAgain = 12 * time.Hour

// An Upload is the set of a directory that is to be sent, and what of it the store has.
type Upload struct {
	Manifest *set.Manifest // with the names of the objects
	Tables   []set.Table   // that are to be sent or, after Send, that were sent
	There    []set.Table   // that the store has, and that were not sent

	// Same reports whether the store's manifest is that of the set.
	Same bool

	dir   string
	files map[string]string // by the names of the objects
	key   string            // of the manifest
	seen  store.Seen        // the store's manifest
	kept  map[string]bool   // its tables
	sent  map[string]bool   // by this Upload
}

// Plan reads the set of the directory dir, and finds out what of it the store lacks. key is the name
// of the manifest in the store.
func Plan(ctx context.Context, dir string, s *store.Store, key string) (*Upload, error) {
	m, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	u := &Upload{dir: dir, key: key, kept: map[string]bool{}, sent: map[string]bool{}}
	u.Manifest, u.files = rename(m)
	there, seen, err := s.SeeManifest(ctx, key)
	if damaged := new(store.ManifestError); errors.As(err, &damaged) {
		return nil, fmt.Errorf("%w: put does not replace what it cannot read: delete that object, or give another --manifest", damaged)
	}
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return nil, err
	}
	u.seen = seen
	u.Same = there != nil && bytes.Equal(encoded(there), encoded(u.Manifest))
	addNames(u.kept, there)
	if err := u.look(ctx, s); err != nil {
		return nil, err
	}
	return u, nil
}

// look finds out what the store lacks now.
func (u *Upload) look(ctx context.Context, s *store.Store) error {
	objects, err := s.List(ctx)
	if err != nil {
		return err
	}
	if again := u.compare(u.kept, objects); again {
		listed := maps.Clone(u.kept)
		delete(objects, u.key) // which was read
		if err := addOthers(ctx, listed, s, objects); err != nil {
			return err
		}
		u.compare(listed, objects)
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

// addOthers adds the names of the tables of all manifests that are found by their extension.
func addOthers(ctx context.Context, listed map[string]bool, s *store.Store, objects map[string]store.Object) error {
	for key := range objects {
		if filepath.Ext(key) != ".jsonl" {
			continue
		}
		m, err := s.ReadManifest(ctx, key)
		switch {
		case errors.As(err, new(*store.ManifestError)): // which is of another program
		case gcerrors.Code(err) == gcerrors.NotFound: // it was deleted meanwhile
		case err != nil:
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
	u.Tables, u.There = u.divide(func(t set.Table) bool {
		o, ok := objects[t.Name]
		there := ok && o.Size == t.Size
		stays := there && (listed[t.Name] || u.sent[t.Name] || time.Since(o.Modified) < SendAgain)
		again = again || there && !stays
		return stays
	})
	return again
}

// divide returns the tables of the manifest for which yes is false, and the others.
func (u *Upload) divide(yes func(set.Table) bool) (no, others []set.Table) {
	for t := range u.Manifest.All() {
		if yes(*t) {
			others = append(others, *t)
		} else {
			no = append(no, *t)
		}
	}
	return no, others
}

// encoded returns the file of a manifest that was read.
func encoded(m *set.Manifest) []byte {
	var b bytes.Buffer
	if err := set.WriteManifest(&b, m); err != nil {
		panic(err) // it was checked
	}
	return b.Bytes()
}

// tries is how often tables are sent that are deleted meanwhile.
const tries = 3

// Send sends the tables, several at a time, and then the manifest. What was found out before can be wrong by
// then. So Send looks again right before, and sends what is gone. sent is called for each table that is
// sent, by any goroutine.
//
// After an error the manifest in the store is as before, unless it is a GoneError. If it is not the one that
// was there when the Upload was planned, it stays, and the error is a [store.ChangedError].
func (u *Upload) Send(ctx context.Context, s *store.Store, concurrency int, sent func(set.Table)) error {
	if u.Same && len(u.Tables) == 0 {
		return nil
	}
	for range tries {
		if err := u.sendTables(ctx, s, concurrency, sent); err != nil {
			return err
		}
		if done, err := u.publish(ctx, s); done || err != nil {
			u.Tables, u.There = u.divide(func(t set.Table) bool { return !u.sent[t.Name] })
			return err
		}
	}
	return fmt.Errorf("%s was sent %d times, and is gone each time: end the sweep that deletes it, or give it a longer --age",
		s.Name(u.Tables[0].Name), tries)
}

// sendTables sends the Tables.
func (u *Upload) sendTables(ctx context.Context, s *store.Store, concurrency int, sent func(set.Table)) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, t := range u.Tables {
		u.sent[t.Name] = true
		g.Go(func() error {
			if gctx.Err() != nil {
				return gctx.Err()
			}
			err := cloud.SendFile(gctx, s.Bucket, filepath.Join(u.dir, u.files[t.Name]), t)
			switch {
			case errors.Is(err, set.ErrMismatch):
				return dbfile.Corruption(err.Error())
			case err == nil:
				sent(t)
			}
			return err
		})
	}
	return g.Wait()
}

// publish writes the manifest, unless the store lacks a table of it, or has the manifest. Then it looks whether
// all tables are there. So either this look or the last one of a sweep that runs at the same time notices a
// table that is listed and gone.
func (u *Upload) publish(ctx context.Context, s *store.Store) (done bool, err error) {
	unlock, err := s.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := u.look(ctx, s); err != nil || len(u.Tables) > 0 {
		return false, err
	}
	if u.Same {
		return true, s.CheckManifest(ctx, u.key, u.seen)
	}
	if err := s.ReplaceManifest(ctx, u.key, u.seen, u.Manifest); err != nil {
		return false, err
	}
	return true, u.checkThere(ctx, s)
}

// checkThere returns a GoneError if the store lacks a table of the manifest, unless another program has replaced
// the manifest since.
func (u *Upload) checkThere(ctx context.Context, s *store.Store) error {
	objects, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("%s is written, but it is not known whether its tables are still there: %w", s.Name(u.key), err)
	}
	for t := range u.Manifest.All() {
		if o, ok := objects[t.Name]; ok && o.Size == t.Size {
			continue
		}
		now, err := s.ReadManifest(ctx, u.key)
		if err == nil && !bytes.Equal(encoded(now), encoded(u.Manifest)) {
			return nil
		}
		return &GoneError{table: s.Name(t.Name), manifest: s.Name(u.key)}
	}
	return nil
}

// A GoneError says that a manifest was written, and lists a table that was deleted or replaced at the same
// time. It is [table.ErrCorrupt].
type GoneError struct{ table, manifest string }

func (e *GoneError) Error() string {
	return e.table + " was deleted at the same time, and " + e.manifest + ", which is written, lists it: put the set again"
}

func (*GoneError) Is(target error) bool { return target == table.ErrCorrupt }
