//go:build unix

package set_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// New tables have the mode of the manifest that they replace or extend: who may read the set may read all of it.
func TestTablesHaveTheModeOfTheManifest(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o600, 0o640, 0o666} {
		for _, o := range []set.BuilderOptions{{}, {Layer: true}, {Part: 1}} {
			dir := t.TempDir()
			buildSet(t, dir, 1, "v")
			manifest := filepath.Join(dir, set.ManifestName)
			if err := os.Chmod(manifest, mode); err != nil {
				t.Fatal(err)
			}
			b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
			if err != nil {
				t.Fatal(err)
			}
			appendKeys(t, b, 5, "w")
			if o.Layer {
				if err := b.Remove([]byte("gone")); err != nil {
					t.Fatal(err)
				}
			}
			l, err := b.Commit()
			if err != nil {
				t.Fatal(err)
			}
			paths := []string{manifest}
			for _, table := range slices.Concat(l.Tables, l.Removals) {
				paths = append(paths, filepath.Join(dir, table.Name))
			}
			for _, path := range paths {
				if info, err := os.Stat(path); err != nil || info.Mode() != mode {
					t.Errorf("%+v: %s has the mode %v, want %v: %v", o, path, info.Mode(), mode, err)
				}
			}
		}
	}
}
