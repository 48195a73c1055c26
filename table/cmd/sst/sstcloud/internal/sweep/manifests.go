package sweep

import (
	"context"
	"fmt"
	"maps"
	"time"

	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

// A version tells whether an object has changed.
type version struct {
	etag     string
	size     int64
	modified time.Time
}

// manifests are those that services read, and the tables that they list.
type manifests struct {
	s        *store.Store
	keys     []string
	mayLack  bool               // set.ManifestName may be missing: it was, and other keys were given
	versions map[string]version // when they were read
	listed   map[string]bool    // names of tables, and of the manifests themselves
}

// read reads all manifests. A missing one is an error: its tables would be taken for ones of no set.
func (m *manifests) read(ctx context.Context) error {
	versions, err := m.ask(ctx) // before they are read
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	for key := range versions {
		manifest, err := m.s.ReadManifest(ctx, key)
		if err != nil {
			return err
		}
		listed[key] = true
		for t := range manifest.All() {
			listed[t.Name] = true
		}
	}
	m.versions, m.listed = versions, listed
	return nil
}

// update reads all manifests again, if one has changed.
func (m *manifests) update(ctx context.Context) error {
	versions, err := m.ask(ctx)
	if err != nil || maps.Equal(versions, m.versions) {
		return err
	}
	return m.read(ctx)
}

// ask asks for the versions of the manifests.
func (m *manifests) ask(ctx context.Context) (map[string]version, error) {
	versions := map[string]version{}
	for _, key := range m.keys {
		a, err := m.s.Attributes(ctx, key)
		missing := gcerrors.Code(err) == gcerrors.NotFound
		if missing && m.mayLack && key == set.ManifestName {
			continue
		}
		if missing {
			return nil, fmt.Errorf("%s: no such manifest: without it, all of its tables would be deleted: %w", m.s.Name(key), err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: ask for the manifest: %w", m.s.Name(key), err)
		}
		versions[key] = version{a.ETag, a.Size, a.ModTime}
	}
	return versions, nil
}

// A ListedError says that a table was deleted, and that a manifest lists it that was written meanwhile.
// It is [table.ErrCorrupt].
type ListedError struct{ name string }

func (e *ListedError) Error() string {
	return e.name + " was deleted, and a manifest lists it that was written at the same time: put the set again, by sstcloud put"
}

func (*ListedError) Is(target error) bool { return target == table.ErrCorrupt }
