package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

// newDirOf returns a NewDir for that path, with files of these names.
func newDirOf(t *testing.T, path string, names ...string) *NewDir {
	t.Helper()
	d, err := CreateNewDir(path)
	noError(t, err)
	for _, name := range names {
		f, err := d.Create(name)
		noError(t, err)
		if _, err := f.Write([]byte("old")); err != nil {
			t.Fatal(err)
		}
		noError(t, f.Close())
	}
	return d
}

func checkNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := errtest.Names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", dir, got, want)
	}
}

// Commit creates the directory, or replaces an empty one or a link's target. Nothing temporary stays.
func TestCommitNewDir(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, parent string){
		"new":   func(*testing.T, string) {},
		"empty": func(t *testing.T, parent string) { mkdir(t, filepath.Join(parent, "db")) },
		"link to an empty one": func(t *testing.T, parent string) {
			mkdir(t, filepath.Join(parent, "real"))
			symlink(t, "real", filepath.Join(parent, "db"))
		},
	} {
		for _, end := range []string{"", string(filepath.Separator)} {
			parent := t.TempDir()
			prepare(t, parent)
			path := filepath.Join(parent, "db")
			d := newDirOf(t, path+end, "a", "b")
			if err := d.Commit(); err != nil {
				t.Errorf("%s: Commit = %v", name, err)
			}
			if err := d.Abort(); err != nil {
				t.Errorf("%s: Abort after Commit = %v", name, err)
			}
			checkDir(t, name, path, []string{"a", "b"})
			if names, err := filepath.Glob(filepath.Join(parent, "*.tmp")); err != nil || len(names) > 0 {
				t.Errorf("%s: %v, %v stay", name, names, err)
			}
		}
	}
}

// Existing files stay unchanged, and no temporary directory is left.
func TestCreateNewDirRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path string
		want error
	}{
		"a file":                     {"file", ErrNotNew},
		"a directory with a file":    {"full", ErrNotNew},
		"a link to it":               {"link", ErrNotNew},
		"a link to nothing":          {"dangling", ErrNotNew},
		"a directory that is needed": {"missing/db", fs.ErrNotExist},
		"the directory above":        {"full/..", ErrNotNew},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			writeOld(t, filepath.Join(parent, "file"))
			mkdir(t, filepath.Join(parent, "full"))
			writeOld(t, filepath.Join(parent, "full", "a"))
			symlink(t, "full", filepath.Join(parent, "link"))
			symlink(t, "nothing", filepath.Join(parent, "dangling"))
			d, err := CreateNewDir(parent + "/" + tt.path)
			if !errors.Is(err, tt.want) || d != nil || strings.Contains(err.Error(), ".tmp") {
				t.Errorf("CreateNewDir = %v, %v, want %v", d, err, tt.want)
			}
			checkNames(t, parent, "dangling", "file", "full", "link")
			checkNames(t, filepath.Join(parent, "full"), "a")
		})
	}
	for _, path := range []string{"", ".", "..", "/"} {
		if d, err := CreateNewDir(path); err == nil || d != nil {
			t.Errorf("CreateNewDir(%q) = %v, %v, want an error", path, d, err)
		}
	}
}

// A Commit that fails leaves nothing, unless the directory has its name already. Files that others have created
// meanwhile stay.
func TestCommitNewDirFails(t *testing.T) {
	t.Parallel()
	cause := errors.New("medium error")
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, path string, d *NewDir)
		want    error
		stays   []string
	}{
		"another database": {func(t *testing.T, path string, _ *NewDir) {
			mkdir(t, path)
			writeOld(t, filepath.Join(path, "theirs"))
		}, ErrNotNew, []string{"theirs"}},
		"fsync of the directory": {func(_ *testing.T, _ string, d *NewDir) {
			d.sync = func(*os.File) error { return cause }
		}, cause, nil},
		"fsync of its parent": {func(_ *testing.T, _ string, d *NewDir) {
			calls := 0
			d.sync = func(*os.File) error {
				if calls++; calls > 1 {
					return cause
				}
				return nil
			}
		}, cause, []string{"a"}},
		"aborted": {func(_ *testing.T, _ string, d *NewDir) { d.Abort() }, fs.ErrClosed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.want == cause && !syncsDirs {
				t.Skip("nothing fails")
			}
			parent := t.TempDir()
			path := filepath.Join(parent, "db")
			d := newDirOf(t, path, "a")
			tt.prepare(t, path, d)
			err := d.Commit()
			if err == nil || tt.want != fs.ErrClosed && !errors.Is(err, tt.want) || strings.Contains(err.Error(), ".tmp") {
				t.Errorf("Commit = %v, want %v", err, tt.want)
			}
			if tt.stays == nil {
				checkNames(t, parent)
			} else {
				checkNames(t, parent, "db")
				checkNames(t, path, tt.stays...)
			}
		})
	}
}

// Abort closes files that are being written, and no file can be created afterwards.
func TestAbortNewDir(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	d := newDirOf(t, filepath.Join(parent, "db"), "a")
	f, err := d.Create("b")
	noError(t, err)
	if _, err := d.Create("b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v, want ErrExist", err)
	}
	for range 2 {
		if err := d.Abort(); err != nil {
			t.Error(err)
		}
	}
	for name, write := range map[string]func() error{
		"Write":  func() error { _, err := f.Write([]byte("x")); return err },
		"Close":  f.Close,
		"Create": func() error { _, err := d.Create("c"); return err },
	} {
		if err := write(); !errors.Is(err, fs.ErrClosed) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s after Abort = %v, want ErrClosed without a temporary name", name, err)
		}
	}
	checkNames(t, parent)
}
