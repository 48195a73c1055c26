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
