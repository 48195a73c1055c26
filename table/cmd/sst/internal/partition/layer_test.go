package partition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/set"
)

func anyManifest(*set.Manifest) error { return nil }

func newSetTable(w io.Writer) (TableWriter, error) { return set.NewTableWriter(w, nil) }

// startLayer begins a layer that adds keys with that value, and removes others.
func startLayer(ctx context.Context, dir, value string, added, removed int) (*Writer, error) {
	w, err := CreateLayer(ctx, options(dir), anyManifest)
	if err != nil {
		return nil, err
	}
	for i := range added {
		err = errors.Join(err, w.Append(fmt.Appendf(nil, "%06d", 10*i), []byte(value)))
	}
	err = errors.Join(err, w.BeginRemovals(newSetTable))
	for i := range removed {
		err = errors.Join(err, w.Append(fmt.Appendf(nil, "%06d", 10*i+1), nil))
	}
	if err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

func readManifest(t *testing.T, dir string) *set.Manifest {
	t.Helper()
	d := set.NewDir(dir)
	defer d.Close()
	m, err := d.ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	return m
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
func TestWriteLayers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, options(dir), 55, "v")
	before := names(t, dir)
	var want [][2]int
	for _, n := range [][2]int{{25, 0}, {0, 11}, {25, 0}, {1, 1}} {
		w, err := startLayer(t.Context(), dir, "w", n[0], n[1])
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		if obsolete, err := w.Commit(); err != nil || obsolete != 0 {
			t.Fatalf("Commit: %d, %v", obsolete, err)
		}
		want = append(want, [2]int{(n[0] + 9) / 10, (n[1] + 9) / 10})
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
	if n := write(t, options(dir), 55, "w"); n != 16 {
		t.Errorf("%d tables of a layered set that was replaced are obsolete, want all 16", n)
	}
}

// Many Writers add layers to one set at once, and some of them end early. None of the others is lost.
func TestManyLayersAtOnce(t *testing.T) {
	t.Parallel()
	rounds := 3
	if long.Enabled() {
		rounds = 50
	}
	r := rand.New(rand.NewPCG(1, 43))
	for range rounds {
		dir, want := t.TempDir(), 0
		write(t, options(dir), 30, "v")
		var all sync.WaitGroup
		for range 2 + r.IntN(8) {
			added, removed, complete := 1+r.IntN(2)*20, r.IntN(2)*15, r.IntN(4) > 0
			if complete {
				want++
			}
			all.Go(func() {
				w, err := startLayer(t.Context(), dir, "same", added, removed)
				if err == nil && complete {
					_, err = w.Commit()
				}
				if err = errors.Join(err, w.Abort()); err != nil {
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

// A Writer that waits for another one ends with its context, and leaves the set as it was.
func TestLayerWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, options(dir), 5, "v")
	ctx, cancel := context.WithCancel(t.Context())
	w, err := startLayer(ctx, dir, "w", 5, 5)
	if err != nil {
		t.Fatal(err)
	}
	other, err := filelock.Open(filepath.Join(dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	cancel()
	if _, err := w.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit: %v, want %v", err, context.Canceled)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if m, files := readManifest(t, dir), names(t, dir); len(m.Layers) > 0 || len(files) != 3 {
		t.Errorf("%d layers, files %q, want none, and the set with the lock", len(m.Layers), files)
	}
}

// What a layer cannot be added to stays as it is.
func TestCreateLayerRefuses(t *testing.T) {
	t.Parallel()
	missing, other, sound := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, set.ManifestName), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	write(t, options(sound), 5, "v")
	misfit := errors.New("does not fit")
	for dir, want := range map[string]string{missing: "so there is no set to add a layer to", other: "line 1 of the manifest", sound: misfit.Error()} {
		before := names(t, dir)
		w, err := CreateLayer(t.Context(), options(dir), func(*set.Manifest) error { return misfit })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %s", w, err, want)
		}
		if diff := cmp.Diff(before, names(t, dir)); diff != "" {
			t.Errorf("files (-before +after):\n%s", diff)
		}
	}
	w, err := CreateLayer(t.Context(), options(sound), anyManifest)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Commit(); err == nil || !strings.Contains(err.Error(), "neither pairs to add nor keys to remove") {
		t.Errorf("Commit of nothing: %v", err)
	}
}
