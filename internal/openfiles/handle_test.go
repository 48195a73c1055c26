package openfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/regular"
)

// Each handle reads the file that had the name when it was opened. If that file was closed meanwhile and another one
// has the name, the handle fails.
func TestHandles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	noError(t, err)
	defer root.Close()
	write := func(name, contents string) {
		t.Helper()
		noError(t, errors.Join(root.WriteFile("temporary", []byte(contents), 0o666), root.Rename("temporary", name)))
	}
	errOther := errors.New("another file")
	c := New(2, func(name string) (regular.File, fs.FileInfo, error) { return regular.Open(filepath.Join(dir, name)) },
		func(string) error { return errOther })
	open := func(name string) regular.File {
		t.Helper()
		f, err := c.Open(name)
		noError(t, err)
		return f.(regular.File)
	}
	check := func(f regular.File, want string, wantErr error) {
		t.Helper()
		p := make([]byte, len(want))
		if n, err := f.ReadAt(p, 0); string(p[:n]) != want || !errors.Is(err, wantErr) {
			t.Errorf("ReadAt = %q, %v; want %q, %v", p[:n], err, want, wantErr)
		}
	}
	write("a", "one")
	write("b", "other")
	first := open("a")
	write("a", "second")
	second := open("a")
	check(first, "one", nil)
	check(second, "second", nil)
	if info, err := first.Stat(); err != nil || info.Size() != 3 {
		t.Errorf("Stat = %v, %v, want 3 bytes", info, err)
	}
	c.closeKept(first.(*handle).file) // as for another file
	check(first, "", errOther)
	check(second, "second", nil)
	third := open("b") // which closes another file
	check(third, "other", nil)
	check(second, "second", nil)
	for _, f := range []regular.File{first, second, third} {
		f.Close()
	}
	if len(c.slots) != 0 || c.kept.Len() != 0 {
		t.Errorf("%d files are open, %d kept after Close", len(c.slots), c.kept.Len())
	}
	if _, err := c.Open("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no file = %v", err)
	}
}

// A read after Close fails, and a read that overlaps Close leaves no file open.
func TestReadsOfAClosedHandle(t *testing.T) {
	t.Parallel()
	open, opened := openerOf(t, 1), 0
	var f fs.File
	c := New(1, func(name string) (regular.File, fs.FileInfo, error) {
		if opened++; opened == 2 {
			f.Close() // while the file is opened again
		}
		return open(name)
	}, nil)
	f, err := c.Open("0")
	noError(t, err)
	c.closeKept(f.(*handle).file)               // as for another file
	f.(regular.File).ReadAt(make([]byte, 1), 0) // may succeed
	if _, err := f.(regular.File).ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) || opened != 2 {
		t.Errorf("ReadAt after Close = %v, and %d files were opened, want 2", err, opened)
	}
	if len(c.slots) != 0 || c.kept.Len() != 0 {
		t.Errorf("%d files are open, %d kept after Close", len(c.slots), c.kept.Len())
	}
}
