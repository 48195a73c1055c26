package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

// onMount makes CreateNewDir treat a directory as a mount point until the test ends.
func onMount(t *testing.T, dir string) {
	t.Helper()
	before := isMountPoint
	isMountPoint = func(path string) bool { return path == dir }
	t.Cleanup(func() { isMountPoint = before })
}

// mounted creates a directory that is treated as a mount point, with the contents of a new file system.
func mounted(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	noError(t, err)
	dir = filepath.Join(dir, "db")
	mkdir(t, dir)
	mkdir(t, filepath.Join(dir, "lost+found"))
	onMount(t, dir)
	return dir
}

// The files of a mount point are moved into it, the last one last. The directory and its parent stay.
func TestCommitInside(t *testing.T) {
	dir := mounted(t)
	before, err := os.Stat(dir)
	noError(t, err)
	d := newDirOf(t, dir, "1.ldb", "2.ldb", "CURRENT")
	checkNames(t, filepath.Dir(dir), "db")
	var moved []string
	d.moved = func(name string) { moved = append(moved, name) }
	noError(t, d.Commit())
	checkNames(t, dir, "1.ldb", "2.ldb", "CURRENT", "lost+found")
	if fmt.Sprint(moved) != "[1.ldb 2.ldb CURRENT]" {
		t.Errorf("moved %v", moved)
	}
	if after, err := os.Stat(dir); err != nil || !os.SameFile(before, after) {
		t.Errorf("another directory, %v", err)
	}
	if err := d.Abort(); err != nil {
		t.Error(err)
	}
	if _, err := CreateNewDir(dir); !errors.Is(err, ErrNotNew) {
		t.Errorf("again: %v, want %v", err, ErrNotNew)
	}
	checkNames(t, dir, "1.ldb", "2.ldb", "CURRENT", "lost+found")
}

// A process that is killed while it moves files leaves no CURRENT. A later process removes the files that it and any
// earlier killed process left.
func TestCommitInsideAfterKill(t *testing.T) {
	files := []string{"1.ldb", "2.ldb", "3.ldb", "CURRENT"}
	for killedAfter := range files {
		dir := mounted(t)
		newDirOf(t, dir, "half.ldb").parent.Close() // left by a process that was killed earlier
		d := newDirOf(t, dir, files...)
		d.moved = func(name string) {
			if name == files[killedAfter] {
				panic("killed")
			}
		}
		errtest.PanicOf(func() { d.Commit() })
		d.parent.Close() // as at the end of a process
		complete := killedAfter == len(files)-1
		if _, err := os.Stat(filepath.Join(dir, "CURRENT")); (err == nil) != complete {
			t.Errorf("killed after %s: CURRENT: %v", files[killedAfter], err)
		}
		if complete {
			if _, err := CreateNewDir(dir); !errors.Is(err, ErrNotNew) {
				t.Errorf("killed at the end: %v, want %v", err, ErrNotNew)
			}
			continue
		}
		if err := newDirOf(t, dir, "9.ldb", "CURRENT").Commit(); err != nil {
			t.Errorf("killed after %s: %v", files[killedAfter], err)
		}
		checkNames(t, dir, "9.ldb", "CURRENT", "lost+found")
	}
}

// A file that exists before, or appears before Commit, is not a leftover.
func TestInsideWantsVacancy(t *testing.T) {
	dir := mounted(t)
	d := newDirOf(t, dir, "1.ldb", "CURRENT")
	other := filepath.Join(dir, "mine")
	noError(t, os.WriteFile(other, nil, 0o666))
	if err := d.Commit(); !errors.Is(err, ErrNotNew) {
		t.Errorf("Commit: %v, want %v", err, ErrNotNew)
	}
	checkNames(t, dir, "lost+found", "mine")
	if _, err := CreateNewDir(dir); !errors.Is(err, ErrNotNew) {
		t.Errorf("CreateNewDir: %v, want %v", err, ErrNotNew)
	}
	checkNames(t, dir, "lost+found", "mine")
}

// If a file cannot be moved, or the disk fails, nothing stays.
func TestCommitInsideFails(t *testing.T) {
	if !syncsDirs {
		t.Skip("nothing fails")
	}
	want := errors.New("disk failed")
	for fails := range 4 {
		dir := mounted(t)
		d := newDirOf(t, dir, "1.ldb", "2.ldb", "CURRENT")
		n := 0
		d.sync = func(*os.File) error {
			if n++; n > fails {
				return want
			}
			return nil
		}
		if err := d.Commit(); fails < 3 && !errors.Is(err, want) || fails == 3 && err != nil {
			t.Errorf("sync %d fails: %v", fails, err)
		} else if err != nil {
			checkNames(t, dir, "lost+found")
		}
	}
}
