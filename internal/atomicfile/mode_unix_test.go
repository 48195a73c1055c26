//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A replaced file or empty directory keeps its permissions, so that private data stays private.
func TestPermissionsAreKept(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o400, 0o777} {
		path := filepath.Join(t.TempDir(), "file")
		writeOld(t, path)
		checkModeKept(t, path, mode, func() error { return Commit(create(t, path)) })
	}
	for _, mode := range []fs.FileMode{0o700, 0o750, 0o755, 0o777} {
		path := filepath.Join(t.TempDir(), "dir")
		mkdir(t, path)
		checkModeKept(t, path, mode, func() error { return newDirOf(t, path).Commit() })
	}
}

func checkModeKept(t *testing.T, path string, mode fs.FileMode, replace func() error) {
	t.Helper()
	noError(t, errors.Join(os.Chmod(path, mode), replace()))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
		t.Errorf("permissions are %v, %v, want %v", info.Mode(), err, mode)
	}
}
