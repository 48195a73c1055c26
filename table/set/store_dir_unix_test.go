//go:build unix

package set_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// If Begin fails after it has created the directory, it removes it.
func TestBeginFailsWithoutTrace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	var limit syscall.Rlimit
	noError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0 // no file can be opened, but directories can be made
	noError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
	_, err := (&set.DirStore{Dir: dir}).Begin(t.Context())
	noError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Begin: %v, want %v", err, syscall.EMFILE)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v, want %v", err, fs.ErrNotExist)
	}
}
