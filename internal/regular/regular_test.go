package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	noError(t, os.WriteFile(name, []byte("contents"), 0o666))
	if err := os.Symlink(name, link); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{name, link} {
		f, info, err := Open(name)
		noError(t, err)
		contents, err := io.ReadAll(f)
		if err != nil || string(contents) != "contents" || info.Size() != 8 {
			t.Errorf("%s: %q, %v; size %d", name, contents, err, info.Size())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file can be replaced and removed while it is open, and is read to its end.
func TestOpenFilesAreReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	noError(t, err)
	defer root.Close()
	noError(t, errors.Join(root.WriteFile("file", []byte("old"), 0o666), root.WriteFile("next", []byte("next"), 0o666)))
	for _, replace := range []func() error{
		func() error { return root.Rename("next", "file") },
		func() error { return root.Remove("file") },
	} {
		f, info, err := Open(filepath.Join(dir, "file"))
		noError(t, err)
		defer f.Close()
		noError(t, replace())
		if contents, err := io.ReadAll(f); int64(len(contents)) != info.Size() || err != nil {
			t.Errorf("read %q, %v, of %d bytes", contents, err, info.Size())
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, want := range map[string]string{
		dir:        "open " + dir + ": a directory, not a regular file",
		os.DevNull: "open " + os.DevNull + ": a device, not a regular file",
	} {
		if f, _, err := Open(name); f != nil || err == nil || err.Error() != want {
			t.Errorf("Open = %v, %v; want %s", f, err, want)
		}
	}
	if _, _, err := Open(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no file = %v, want fs.ErrNotExist", err)
	}
	if _, _, err := Open(strings.Repeat("n", 10_000)); err == nil {
		t.Error("a name that is too long: no error")
	}
}

// OpenIn opens regular files in a directory, also through a link, and nothing outside it.
func TestOpenIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside")
	err := errors.Join(
		os.MkdirAll(filepath.Join(inside, "sub"), 0o777),
		os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o666),
		os.WriteFile(filepath.Join(inside, "file"), []byte("contents"), 0o666))
	noError(t, err)
	if err := errors.Join(os.Symlink("file", filepath.Join(inside, "link")), os.Symlink("../secret", filepath.Join(inside, "out"))); err != nil {
		t.Skip(err)
	}
	root, err := os.OpenRoot(inside)
	noError(t, err)
	defer root.Close()
	for name, opens := range map[string]bool{"file": true, "link": true, "out": false, "../secret": false, "sub": false, "none": false} {
		f, info, err := OpenIn(root, name)
		if (err == nil) != opens || opens && info.Size() != 8 {
			t.Errorf("OpenIn(%s) = %v, want it to open: %t", name, err, opens)
		}
		if err == nil {
			f.Close()
		}
	}
}

// A directory that takes the name of another one is not the same.
func TestIdentify(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dir")
	noError(t, os.Mkdir(dir, 0o777))
	before, err := Identify(dir)
	noError(t, err)
	same, err := Identify(dir)
	noError(t, err)
	noError(t, errors.Join(os.Rename(dir, dir+" aside"), os.Mkdir(dir, 0o777)))
	after, err := Identify(dir)
	noError(t, err)
	if !os.SameFile(before, same) || os.SameFile(before, after) {
		t.Errorf("same as before: %t, and after it was replaced: %t", os.SameFile(before, same), os.SameFile(before, after))
	}
}
