package set_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/set"
)

// names returns the names of the files in a directory.
func names(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A manifest is replaced as a whole, or stays.
func TestManifestIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := set.NewDir(path)
	defer d.Close()
	if _, err := d.ReadManifest(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a manifest: %v, want ErrNotExist", err)
	}
	for _, want := range []*set.Manifest{twoTables(), {Tables: twoTables().Tables[1:]}} {
		if err := d.WriteManifest(want); err != nil {
			t.Fatal(err)
		}
		bad := twoTables()
		bad.Tables[0].Entries = 0
		if err := d.WriteManifest(bad); err == nil {
			t.Error("WriteManifest of a table without entries: no error")
		}
		got, err := d.ReadManifest()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ReadManifest: %v (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff([]string{set.ManifestName}, names(t, path)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
}

// Who has the old manifest open reads all of it, also after a new one was written.
func TestDirWritesAnotherFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	putManifest(t, path, twoTables())
	old, err := os.Open(filepath.Join(path, set.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	putManifest(t, path, new(set.Manifest))
	got, err := set.ReadManifest(old)
	if diff := cmp.Diff(twoTables(), got); err != nil || diff != "" {
		t.Errorf("the old manifest: %v (-want +got):\n%s", err, diff)
	}
}

func TestDirManifestErrors(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	for name, d := range map[string]*set.Dir{"closed": set.NewDir(path), "missing": set.NewDir(filepath.Join(path, "none"))} {
		t.Run(name, func(t *testing.T) {
			want := fs.ErrNotExist
			if name == "closed" {
				want = os.ErrClosed
				d.Close()
			}
			if _, err := d.ReadManifest(); !errors.Is(err, want) {
				t.Errorf("ReadManifest = %v, want %v", err, want)
			}
			if err := d.WriteManifest(twoTables()); !errors.Is(err, want) {
				t.Errorf("WriteManifest = %v, want %v", err, want)
			}
		})
	}
}
