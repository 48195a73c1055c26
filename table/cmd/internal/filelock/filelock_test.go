//go:build (unix && !solaris && !aix) || windows

package filelock

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/lockfile"
)

func openLock(t *testing.T, name string) lockfile.Handle {
	t.Helper()
	f, err := Open(name)
	errtest.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// Only one open file holds the lock, until it is closed. The contents of the file do not change.
func TestOpenLocks(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	errtest.NoError(t, os.WriteFile(name, []byte("contents"), 0o666))
	f := openLock(t, name)
	if other, err := Open(name); !errors.Is(err, lockfile.ErrLocked) || other != nil {
		t.Errorf("Open of a locked file = %v, %v; want ErrLocked", other, err)
	}
	errtest.NoError(t, f.Close())
	errtest.NoError(t, openLock(t, name).Close())
	if contents, err := os.ReadFile(name); err != nil || string(contents) != "contents" {
		t.Errorf("the file has %q, %v", contents, err)
	}
}

// A lock file excludes others only while its name refers to the open file itself.
func TestIsNamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(lock, other string) error
		want   bool
	}{
		"unchanged":          {func(string, string) error { return nil }, true},
		"removed":            {func(lock, _ string) error { return os.Remove(lock) }, false},
		"renamed":            {os.Rename, false},
		"replaced":           {func(lock, other string) error { return os.Rename(other, lock) }, false},
		"a link to the file": {func(lock, other string) error { return errors.Join(os.Rename(lock, other), os.Symlink(other, lock)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			lock, other := filepath.Join(dir, "lock"), filepath.Join(dir, "other")
			errtest.NoError(t, os.WriteFile(other, nil, 0o666))
			f := openLock(t, lock)
			if err := tt.change(lock, other); err != nil {
				t.Skip(err) // Windows does not remove open files
			}
			if got, err := lockfile.IsNamed(f); got != tt.want || err != nil {
				t.Errorf("IsNamed = %t, %v; want %t", got, err, tt.want)
			}
		})
	}
}

// A link is not followed, and its target is neither created nor locked.
func TestOpenFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there, made := filepath.Join(dir, "there"), filepath.Join(dir, "made")
	errtest.NoError(t, os.WriteFile(there, nil, 0o666))
	for _, target := range []string{there, made, dir} {
		link := filepath.Join(dir, "link")
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
		f, err := Open(link)
		if want := "lock " + link + ": a symbolic link, not a regular file: remove it"; f != nil || err == nil || err.Error() != want {
			t.Errorf("Open = %v, %v; want %q", f, err, want)
		}
		errtest.NoError(t, os.Remove(link))
	}
	if _, err := os.Lstat(made); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file that a link named was made: %v", err)
	}
	openLock(t, there)
}

// Close ends a lock, even if a process that is just starting has the file open.
func TestCloseUnlocksCopies(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	for range 20 {
		f := openLock(t, name)
		var starts sync.WaitGroup
		for range 4 {
			starts.Go(func() { exec.Command(os.Args[0], "-test.run=^$").Run() })
		}
		errtest.NoError(t, f.Close())
		next, err := Open(name)
		if err != nil {
			t.Errorf("Open after Close = %v", err)
		} else if err := next.Close(); err != nil {
			t.Error(err)
		}
		starts.Wait()
	}
}
