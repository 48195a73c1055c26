//go:build unix

package set_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// New tables have the mode of the manifest that they replace or extend, so that whoever may read the set may read
// all of it.
func TestTablesHaveTheModeOfTheManifest(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o600, 0o640, 0o666} {
		for _, o := range []set.BuilderOptions{{}, {Layer: true}, {Part: 1}} {
			dir := t.TempDir()
			buildSet(t, dir, 1, "v")
			noError(t, os.Chmod(filepath.Join(dir, set.ManifestName), mode))
			b := newBuilder(t, dir, o)
			appendKeys(t, b, 5, "w")
			if o.Layer {
				noError(t, b.Remove([]byte("gone")))
			}
			l := commit(t, b)
			files := []string{set.ManifestName}
			for _, table := range slices.Concat(l.Tables, l.Removals) {
				files = append(files, table.Name)
			}
			for _, file := range files {
				if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Mode() != mode {
					t.Errorf("%+v: %s has the mode %v, want %v: %v", o, file, info.Mode(), mode, err)
				}
			}
		}
	}
}
