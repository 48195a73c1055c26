package table

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// failures make one of the steps of publishing a file fail.
var failures = []struct {
	name string
	fail func(p *pendingFile, cause error)
	left []string // in the directory, where there was a file before
}{
	{"fsync of the file", func(p *pendingFile, cause error) {
		p.sync = func(*os.File) error { return cause }
	}, []string{"a.ldb"}},
	{"rename", func(p *pendingFile, cause error) {
		p.rename = func(string, string) error { return cause }
	}, []string{"a.ldb"}},
	{"fsync of the directory: the name may not last", func(p *pendingFile, cause error) {
		p.sync = func(f *os.File) error {
			if f == p.tmp {
				return f.Sync()
			}
			return cause
		}
	}, nil},
	{"close of the file", func(p *pendingFile, cause error) {
		p.sync = func(f *os.File) error { return f.Close() } // so that the second one fails
	}, []string{"a.ldb"}},
}

// A step of publishing that fails: Close returns the cause, and there is no file
// but an older one.
func TestPublishFails(t *testing.T) {
	cause := errors.New("medium error")
	for _, tt := range failures {
		for _, old := range []bool{false, true} {
			dir := t.TempDir()
			name := filepath.Join(dir, "a.ldb")
			var want []string
			if old {
				want = tt.left
				if err := os.WriteFile(name, []byte("old"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			w, err := Create(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.fail(w.file, cause)
			if err := w.Close(); !errors.Is(err, cause) && !errors.Is(err, os.ErrClosed) {
				t.Errorf("%s: Close = %v, want the cause", tt.name, err)
			}
			if err := w.Close(); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: a second Close = %v, want ErrClosed", tt.name, err)
			}
			checkDir(t, tt.name, dir, want)
		}
	}
}

// A file system that cannot sync directories has published the file all the same.
func TestPublishWhereDirectoriesAreNotSynced(t *testing.T) {
	for _, cause := range []error{syscall.EINVAL, errors.ErrUnsupported} {
		name := filepath.Join(t.TempDir(), "a.ldb")
		w, err := Create(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.file.sync = func(f *os.File) error {
			if f == w.file.tmp {
				return f.Sync()
			}
			return &os.PathError{Op: "sync", Path: ".", Err: cause}
		}
		if err := w.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

func checkDir(t *testing.T, step, dir string, want []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
		if contents, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || string(contents) != "old" {
			t.Errorf("%s: %s holds %q, %v; want the old contents", step, e.Name(), contents, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the directory has (-want +got):\n%s", step, diff)
	}
}
