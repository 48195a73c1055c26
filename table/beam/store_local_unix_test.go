//go:build unix

package setio_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// If the manifest's name denotes a pipe, opening it must not wait for a writer.
func TestManifestIsAPipe(t *testing.T) {
	dir := t.TempDir()
	noError(t, syscall.Mkfifo(filepath.Join(dir, set.ManifestName), 0o666))
	if err := setio.Sweep(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "a named pipe") {
		t.Errorf("error %v, want one of the pipe", err)
	}
}

// If the lock file is a link, its target is not created. If it is a pipe, opening it must not wait.
func TestLockFileIsNoFile(t *testing.T) {
	for want, prepare := range map[string]func(name, elsewhere string) error{
		"a symbolic link": func(name, elsewhere string) error { return os.Symlink(elsewhere, name) },
		"a named pipe":    func(name, _ string) error { return syscall.Mkfifo(name, 0o666) },
	} {
		dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "made")
		noError(t, prepare(filepath.Join(dir, set.ManifestName+".lock"), elsewhere))
		if err := setio.Sweep(t.Context(), dir); err == nil || !strings.HasSuffix(err.Error(), want+", not a regular file: remove it") {
			t.Errorf("error %v, want the lock file to be %s", err, want)
		}
		if _, err := os.Lstat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file was made where the link leads: %v", err)
		}
	}
}
