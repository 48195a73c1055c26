package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pathIn(d *Dir, name string) string { return filepath.Join(d.parent.Name(), d.name, name) }

// dirOf returns a Dir with files of these names.
func dirOf(t *testing.T, parent string, names ...string) *Dir {
	t.Helper()
	d, err := CreateDir(parent, "")
	noError(t, err)
	for _, name := range names {
		writeOld(t, pathIn(d, name))
	}
	return d
}

// Published files replace files of the same names. Nothing temporary stays.
func TestPublish(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(parent, "a"), []byte("older"), 0o666))
	writeOld(t, filepath.Join(parent, "other"))
	d := dirOf(t, parent, "a", "b", "unused")
	if err := d.Publish([]string{"a", "b"}); err != nil {
		t.Error(err)
	}
	if err := d.Abort(); err != nil {
		t.Errorf("Abort after Publish = %v", err)
	}
	checkDir(t, "Publish", parent, []string{"a", "b", "other"})
}

// Abort removes the Dir, and nothing else.
func TestAbortDir(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	writeOld(t, filepath.Join(parent, "a"))
	d, another := dirOf(t, parent, "a", "b"), dirOf(t, parent)
	for range 2 {
		if err := d.Abort(); err != nil {
			t.Error(err)
		}
	}
	if err := d.Publish([]string{"a"}); err == nil {
		t.Error("Publish after Abort: no error")
	}
	if err := another.Abort(); err != nil {
		t.Error(err)
	}
	checkDir(t, "Abort", parent, []string{"a"})
}

// A file that has its final name stays if Publish fails later, since another process may use it by then. Neither a
// link nor a directory is replaced.
func TestPublishFails(t *testing.T) {
	t.Parallel()
	cause := errors.New("medium error")
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, parent string, d *Dir)
		want    []string
	}{
		"missing":   {func(t *testing.T, _ string, d *Dir) { os.Remove(pathIn(d, "b")) }, []string{"a"}},
		"link":      {func(t *testing.T, parent string, d *Dir) { symlink(t, "a", filepath.Join(parent, "b")) }, []string{"a", "b"}},
		"directory": {func(t *testing.T, parent string, d *Dir) { mkdir(t, filepath.Join(parent, "b")) }, nil},
		"sync":      {func(t *testing.T, _ string, d *Dir) { d.sync = func(*os.File) error { return cause } }, []string{"a", "b"}},
	} {
		if name == "sync" && !syncsDirs {
			continue
		}
		parent := t.TempDir()
		d := dirOf(t, parent, "a", "b")
		tt.prepare(t, parent, d)
		if err := d.Publish([]string{"a", "b"}); err == nil || !strings.HasPrefix(err.Error(), "write ") || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: Publish = %v, want an error without a temporary name", name, err)
		}
		if err := d.Abort(); err != nil {
			t.Errorf("%s: Abort = %v", name, err)
		}
		if tt.want != nil {
			checkDir(t, name, parent, tt.want)
		}
	}
}

// A file can be renamed when its contents are known, but not to the name of a directory, of a link, or of a file
// outside.
func TestRename(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	writeOld(t, filepath.Join(parent, "replaced"))
	symlink(t, "target", filepath.Join(parent, "link"))
	for _, name := range []string{"new", "replaced", "link"} {
		d := dirOf(t, parent, "first")
		for _, wrong := range []string{".", "..", "../outside"} {
			if err := d.Rename("first", wrong); err == nil || !strings.HasPrefix(err.Error(), "write ") {
				t.Errorf("Rename to %q = %v, want an error", wrong, err)
			}
		}
		if err := d.Rename("first", name); err != nil {
			t.Error(err)
		}
		if err := d.Publish([]string{name}); (name == "link") != errors.Is(err, ErrNotReplaced) {
			t.Errorf("Publish of %s = %v, want ErrNotReplaced only for a link", name, err)
		}
		if err := d.Abort(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(filepath.Join(parent, "link")); err != nil {
		t.Error(err)
	}
	checkDir(t, "Rename", parent, []string{"new", "replaced"})
}
