//go:build unix

package partition

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// Who may read the manifest may read the tables of its next set and of its layers, and nobody else.
func TestTablesHaveTheModeOfTheManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, set.ManifestName)
	write(t, options(dir), 10, "first")
	for _, mode := range []os.FileMode{0o600, 0o640, 0o664} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		write(t, options(dir), 10, mode.String())
		w, err := startLayer(t.Context(), dir, mode.String(), 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		paths := []string{name}
		for table := range readManifest(t, dir).All() {
			paths = append(paths, filepath.Join(dir, table.Name))
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("%s has the mode %v (%v), want %v", path, info.Mode(), err, mode)
			}
		}
	}
}

// Create does not wait for the writer of a pipe that has the manifest's name.
func TestCreateRefusesPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, set.ManifestName)
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Skip(err)
	}
	pipe, err := os.OpenFile(name, os.O_RDWR, 0) // so that a read would get something
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if _, err := pipe.WriteString("no manifest\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), options(dir)); err == nil || !strings.Contains(err.Error(), "a named pipe, want a regular file") {
		t.Errorf("Create = %v, want that the manifest is a named pipe", err)
	}
}
