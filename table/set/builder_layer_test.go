package set_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/set"
)

// startLayer begins a layer that adds keys with that value, and removes others.
func startLayer(ctx context.Context, s set.Store, value string, added, removed int) (*set.Builder, error) {
	b, err := set.NewBuilder(ctx, s, &set.BuilderOptions{Layer: true, EntriesPerTable: 10})
	if err != nil {
		return nil, err
	}
	for i := range max(added, removed) { // the two orders are independent of each other
		if i < added {
			err = errors.Join(err, b.Append(fmt.Appendf(nil, "%06d", 10*i), []byte(value)))
		}
		if i < removed {
			err = errors.Join(err, b.Remove(fmt.Appendf(nil, "%06d", 10*i+1)))
		}
	}
	if err != nil {
		return nil, errors.Join(err, b.Abort())
	}
	return b, nil
}

// layersOf returns the numbers of tables of the layers.
func layersOf(m *set.Manifest) (counts [][2]int) {
	for _, l := range m.Layers {
		counts = append(counts, [2]int{len(l.Tables), len(l.Removals)})
	}
	return counts
}

// A layer adds files, and changes none but the manifest. Its tables have other names than all before,
// also if they have the same contents.
func TestBuildLayers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buildSet(t, dir, 55, "v")
	before := names(t, dir)
	var want [][2]int
	for _, n := range [][2]int{{25, 0}, {0, 11}, {25, 0}, {1, 1}} {
		b, err := startLayer(t.Context(), dirStore(dir), "w", n[0], n[1])
		if err != nil {
			t.Fatal(err)
		}
		defer b.Abort()
		l, err := b.Commit()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, [2]int{(n[0] + 9) / 10, (n[1] + 9) / 10})
		m := readManifest(t, dir)
		if diff := cmp.Diff(m.Layers[len(m.Layers)-1], l); diff != "" {
			t.Errorf("layer (-manifest +Commit):\n%s", diff)
		}
	}
	m, after := readManifest(t, dir), listing(t, dir)
	if diff := cmp.Diff(want, layersOf(m)); diff != "" {
		t.Errorf("tables and removals of layers (-want +got):\n%s", diff)
	}
	if len(after) != len(before)+10 || !strings.HasPrefix(m.Layers[3].Removals[0].Name, "000016-") {
		t.Errorf("files %q, want 10 new ones, numbered up to 16", after)
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			t.Errorf("%s is gone", name)
		}
	}
	buildSet(t, dir, 55, "w")
	if after := listing(t, dir); len(after) != 1+16+6 || len(readManifest(t, dir).Layers) > 0 {
		t.Errorf("files %q of a set that has replaced a layered one, want the 16 old tables too", after)
	}
}

// Many Builders add layers to one set at once, and some of them end early. None of the others is lost.
func TestManyLayersAtOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 43))
	for range rounds(3, 50) {
		dir, want := t.TempDir(), 0
		buildSet(t, dir, 30, "v")
		var all sync.WaitGroup
		for range 2 + r.IntN(8) {
			added, removed, complete := 1+r.IntN(2)*20, r.IntN(2)*15, r.IntN(4) > 0
			if complete {
				want++
			}
			all.Go(func() {
				b, err := startLayer(t.Context(), dirStore(dir), "same", added, removed)
				if err != nil {
					t.Error(err)
					return
				}
				if complete {
					_, err = b.Commit()
				}
				if err = errors.Join(err, b.Abort()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		m, tables := readManifest(t, dir), 0
		for range m.All() {
			tables++
		}
		if files := listing(t, dir); len(m.Layers) != want || len(files) != tables+1 {
			t.Errorf("%d layers, want %d; files %q, want %d tables and the manifest", len(m.Layers), want, files, tables)
		}
	}
}

// A Builder that waits for another one ends with its context, and leaves the set as it was.
func TestLayerWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buildSet(t, dir, 5, "v")
	ctx, cancel := context.WithCancel(t.Context())
	b, err := startLayer(ctx, dirStore(dir), "w", 5, 5)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := dirStore(dir).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	cancel()
	if _, err := b.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit: %v, want %v", err, context.Canceled)
	}
	if err := b.Abort(); err != nil {
		t.Error(err)
	}
	if m, files := readManifest(t, dir), names(t, dir); len(m.Layers) > 0 || len(files) != 2 {
		t.Errorf("%d layers, files %q, want none, and the set", len(m.Layers), files)
	}
}

// What a layer cannot be added to stays as it is.
func TestLayerRefuses(t *testing.T) {
	t.Parallel()
	missing, other, sound := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, set.ManifestName), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	buildSet(t, sound, 5, "v")
	misfit := errors.New("does not fit")
	o := set.BuilderOptions{Layer: true, Check: func(*set.Manifest) error { return misfit }}
	for dir, want := range map[string]string{
		missing: "no set to add a layer to", other: "line 1 of the manifest", sound: misfit.Error(),
	} {
		before := names(t, dir)
		b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %s", b, err, want)
		}
		if (dir == missing) != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, want fs.ErrNotExist only if there is no set", err)
		}
		if diff := cmp.Diff(before, names(t, dir)); diff != "" {
			t.Errorf("files (-before +after):\n%s", diff)
		}
	}
}
