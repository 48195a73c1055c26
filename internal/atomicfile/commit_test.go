package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

// failures make one step of Commit fail.
var failures = []struct {
	name      string
	fail      func(f *File, cause error)
	published bool // the file has its final name by then
}{
	{"fsync of the file", func(f *File, cause error) {
		f.sync = func(*os.File) error { return cause }
	}, false},
	{"rename", func(f *File, cause error) {
		f.rename = func(string, string) error { return cause }
	}, false},
	{"fsync of the directory: the name may not last", func(f *File, cause error) {
		f.sync = func(file *os.File) error {
			if file == f.tmp {
				return file.Sync()
			}
			return cause
		}
	}, true},
	{"close of the file", func(f *File, cause error) {
		f.sync = func(file *os.File) error { return file.Close() } // so that the second one fails
	}, false},
}

// syncsDirs reports whether the system syncs directories.
const syncsDirs = runtime.GOOS != "windows"

// If a step of Commit fails, Commit returns the cause. Only an older file is left, or the new one once it has its
// final name: a file with that name can belong to another process.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	cause := errors.New("medium error")
	for _, tt := range failures {
		if tt.published && !syncsDirs {
			continue
		}
		for _, old := range []bool{false, true} {
			dir := t.TempDir()
			name := filepath.Join(dir, "a.ldb")
			var want []string
			if old {
				writeOld(t, name)
			}
			if old || tt.published {
				want = []string{"a.ldb"}
			}
			f := create(t, name)
			if _, err := f.Write([]byte("old")); err != nil {
				t.Fatal(err)
			}
			tt.fail(f, cause)
			if err := Commit(f); !errors.Is(err, cause) && !errors.Is(err, os.ErrClosed) || strings.Contains(err.Error(), ".tmp") {
				t.Errorf("%s: Commit = %v, want the cause without a temporary name", tt.name, err)
			}
			if _, err := f.Write([]byte("x")); err == nil || strings.Contains(err.Error(), ".tmp") {
				t.Errorf("%s: Write after Commit = %v, want an error without a temporary name", tt.name, err)
			}
			if err := f.Abort(); err != nil {
				t.Errorf("%s: Abort = %v, want nothing to be left to do", tt.name, err)
			}
			checkDir(t, tt.name, dir, want)
		}
	}
}

// The error names the file even if its directory cannot be opened for fsync, as with too many open files.
func TestDirectoryCannotBeOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, d := create(t, filepath.Join(dir, "a.ldb")), dirOf(t, dir, "b")
	f.sync = func(*os.File) error { return f.dir.Close() } // then it cannot be opened
	d.parent.Close()
	for want, err := range map[string]error{f.name: Commit(f), "write to": d.Publish([]string{"b"})} {
		if !strings.HasPrefix(fmt.Sprint(err), "write ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to name %q", err, want)
		}
	}
}

// If one of several files cannot be synced to disk, none gets its final name.
func TestCommitOfSeveral(t *testing.T) {
	t.Parallel()
	cause := errors.New("medium error")
	for _, tt := range failures[:2] {
		dir := t.TempDir()
		a, b, c := create(t, filepath.Join(dir, "a.ldb")), create(t, filepath.Join(dir, "b.ldb")), create(t, filepath.Join(dir, "c.ldb"))
		tt.fail(a, cause)
		if err := Commit(a, b, c); !errors.Is(err, cause) {
			t.Errorf("%s: Commit = %v, want the cause", tt.name, err)
		}
		checkDir(t, tt.name, dir, nil)
	}
	dir := t.TempDir()
	a, b := create(t, filepath.Join(dir, "a.ldb")), create(t, filepath.Join(dir, "b.ldb"))
	failures[0].fail(b, cause) // the second one's
	if err := Commit(a, b); !errors.Is(err, cause) {
		t.Errorf("Commit = %v, want the cause", err)
	}
	checkDir(t, "fsync of the second file", dir, nil)
}

// On a file system that cannot sync directories, the file is published nevertheless.
func TestCommitWhereDirectoriesAreNotSynced(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.EINVAL, errors.ErrUnsupported} {
		name := filepath.Join(t.TempDir(), "a.ldb")
		f := create(t, name)
		f.sync = func(file *os.File) error {
			if file == f.tmp {
				return file.Sync()
			}
			return &os.PathError{Op: "sync", Path: ".", Err: cause}
		}
		if err := Commit(f); err != nil {
			t.Errorf("Commit = %v", err)
		}
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// An Abort from another goroutine, at any point of Commit, leaves the whole file or none, and nothing else.
func TestAbortWhileCommitting(t *testing.T) {
	t.Parallel()
	published := 0
	for i := range 200 {
		dir := t.TempDir()
		f := create(t, filepath.Join(dir, "a.ldb"))
		if _, err := f.Write([]byte("old")); err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		go func() {
			defer close(done)
			time.Sleep(time.Duration(i) * time.Microsecond)
			f.Abort()
		}()
		err := Commit(f)
		<-done
		var want []string
		if err == nil {
			published++
			want = []string{"a.ldb"}
		}
		checkDir(t, fmt.Sprintf("aborted after %d µs", i), dir, want)
	}
	t.Logf("%d of 200 files were published", published)
}

// When any of several calls of Abort returns, the file is gone, so the process may exit.
func TestAbortTwiceAtOnce(t *testing.T) {
	t.Parallel()
	for range 200 {
		dir := t.TempDir()
		f := create(t, filepath.Join(dir, "a.ldb"))
		gone := make(chan bool)
		for range 2 {
			go func() {
				f.Abort()
				left, err := os.ReadDir(dir)
				gone <- err == nil && len(left) == 0
			}()
		}
		if first, second := <-gone, <-gone; !first || !second {
			t.Fatal("a file was left when Abort returned")
		}
	}
}

func create(t *testing.T, name string) *File {
	t.Helper()
	f, err := Create(name)
	noError(t, err)
	return f
}

func writeOld(t *testing.T, name string) {
	t.Helper()
	noError(t, os.WriteFile(name, []byte("old"), 0o666))
}

func checkDir(t *testing.T, step, dir string, want []string) {
	t.Helper()
	got := errtest.Names(t, dir)
	for _, name := range got {
		if contents, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(contents) != "old" {
			t.Errorf("%s: %s holds %q, %v; want the old contents", step, name, contents, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the directory has (-want +got):\n%s", step, diff)
	}
}
