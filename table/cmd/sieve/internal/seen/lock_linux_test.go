package seen

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// All names of a state share one lock, even before the state exists.
func TestOneLockForAllNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	noError(t, os.Symlink("state", link))
	s := open(t, link, 100, 0.01)
	defer s.Close()
	if other, err := Open(filepath.Join(dir, "state"), 100, 0.01); err == nil || !strings.Contains(err.Error(), "another sieve seen is using this state") {
		t.Errorf("Open by the other name = %v, %v; want an error", other, err)
	}
}

// The process keeps the lock when it reads the lock file as an input.
func TestLockIsNotLostToAnInput(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	s := open(t, path, 100, 0.01)
	defer s.Close()
	out := newPrinted()
	sieve := Sieve{State: s, Out: out, Every: time.Hour}
	noError(t, sieve.Run(context.Background(), []string{path + lockSuffix}, strings.NewReader("")))
	if other, err := Open(path, 100, 0.01); err == nil {
		t.Errorf("Open = %v after the lock file was read, want an error", other)
	}
}

// A state is not saved without its lock, since another process may be using it.
func TestSaveWithoutTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	s := open(t, path, 100, 0.01)
	defer s.Close()
	noError(t, os.Remove(path+lockSuffix))
	other := open(t, path, 100, 0.01)
	defer other.Close()
	if err := s.Save(); err == nil || !strings.Contains(err.Error(), "was removed or replaced") {
		t.Errorf("Save = %v, want an error about the lock", err)
	}
	noError(t, other.Save())
}
