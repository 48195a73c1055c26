//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file that is replaced keeps its permissions. A new one has those of new files.
func TestPermissionsAreKept(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o400, 0o777} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		f, err := Create(path)
		if err == nil {
			err = Commit(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("permissions are %v, %v, want %v", info.Mode(), err, mode)
		}
	}
}

// An empty directory that is replaced keeps its permissions, so that what was private stays so.
func TestPermissionsOfDirectoriesAreKept(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o700, 0o750, 0o755, 0o777} {
		path := filepath.Join(t.TempDir(), "dir")
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		d, err := CreateNewDir(path)
		if err == nil {
			err = d.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("permissions are %v, %v, want %v", info.Mode(), err, mode)
		}
	}
}
