package set_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/merge"
	"github.com/sievetable/sievetable/table/set"
)

// writeTo writes the tables and a manifest into a directory.
func (s *store) writeTo(t testing.TB, dir string, m *set.Manifest) {
	t.Helper()
	for name, contents := range s.files {
		noError(t, os.WriteFile(filepath.Join(dir, name), contents, 0o666))
	}
	putManifest(t, dir, m)
}

// openDir opens a set that is closed at the end of the test.
func openDir(t testing.TB, dir string, o *set.Options) *set.Set {
	t.Helper()
	s, err := set.OpenDir(background, dir, o)
	noError(t, err)
	t.Cleanup(func() {
		s.Close()
		noError(t, s.Drain(background))
	})
	return s
}

// checkNoFiles checks that no file of a directory is open.
func checkNoFiles(t testing.TB, dir string) {
	t.Helper()
	if n := openFiles(dir); n != 0 {
		t.Errorf("%d files are open, want 0", n)
	}
}

func putManifest(t testing.TB, dir string, m *set.Manifest) {
	t.Helper()
	d := set.NewDir(dir)
	noError(t, errors.Join(d.WriteManifest(m), d.Close()))
}

// rename replaces a file in the same directory. Unlike os.Rename, it also replaces an open one on Windows.
func rename(from, to string) error {
	root, err := os.OpenRoot(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Rename(filepath.Base(from), filepath.Base(to))
}

// openFiles returns the number of files in a directory that the process has open, or 0 if the system does not tell.
func openFiles(dir string) (n int) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && (to == dir || strings.HasPrefix(to, dir+"/")) {
			n++
		}
	}
	return n
}

func TestOpenDirClosesItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := writeTables(t, dir, filtered, 3, perTable)
	s := openDir(t, dir, eager)
	checkGet(t, s, key(60), valueOf(60))
	checkGet(t, s, key(60)+"x", "")
	noError(t, s.Verify(background, nil))
	noError(t, s.Swap(background, manifestOf(m.Tables[1])))
	if n := openFiles(dir); n > 2 {
		t.Errorf("%d files are open, want the directory and one table", n)
	}
	it := s.NewIter(background, nil)
	it.First()
	noError(t, s.Close())
	if !it.Next() {
		t.Error("Close has closed a file that is in use")
	}
	it.Close()
	noError(t, s.Drain(background))
	checkNoFiles(t, dir)
}

// If a directory is not a set, OpenDir fails, and no file stays open. A set without tables does not keep the
// directory open either.
func TestOpenDirOfNoSet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused := func(dir string, o *set.Options, kind error, want string) {
		t.Helper()
		_, err := set.OpenDir(background, dir, o)
		checkError(t, "OpenDir", err, kind, want)
	}
	refused(dir, nil, fs.ErrNotExist, set.ManifestName)
	refused(filepath.Join(dir, "none"), nil, fs.ErrNotExist, "")
	writeTables(t, dir, filtered, 3, perTable)
	noError(t, os.Remove(filepath.Join(dir, "t001")))
	refused(dir, eager, fs.ErrNotExist, `"t001"`)
	noError(t, os.Truncate(filepath.Join(dir, set.ManifestName), 100))
	refused(dir, nil, nil, "line 2 of the manifest")
	for _, n := range []int{-1, 1<<20 + 1} {
		refused(dir, &set.Options{MaxOpenFiles: n}, nil, "must be 0 to 1048576")
	}
	putManifest(t, dir, new(set.Manifest))
	noError(t, openDir(t, dir, nil).Close())
	checkNoFiles(t, dir)
}

// A Dir reads only regular files in the directory.
func TestDirReadsRegularFilesOnly(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	dir := filepath.Join(outside, "dir")
	noError(t, errors.Join(os.WriteFile(secret, []byte("secret"), 0o666), os.MkdirAll(filepath.Join(dir, "sub"), 0o777)))
	if err := errors.Join(os.Symlink(secret, filepath.Join(dir, "link")), os.Symlink("../secret", filepath.Join(dir, "up"))); err != nil {
		t.Skip(err)
	}
	d := set.NewDir(dir)
	for _, name := range []string{
		"link", "up", "sub", "none", "", ".", "..", "../secret", "sub/../../secret", secret, set.ManifestName,
	} {
		n, err := d.ReadAt(background, name, make([]byte, 6), 0)
		checkError(t, fmt.Sprintf("ReadAt of %q", name), err, nil, "set: ")
		checkDiff(t, "bytes read", 0, n)
	}
	noError(t, d.Close())
}

// A Dir keeps a file open until Forget.
func TestDirKeepsFilesUntilForget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, next := filepath.Join(dir, "t"), filepath.Join(dir, "next")
	noError(t, os.WriteFile(name, []byte("old"), 0o666))
	d := set.NewDir(dir)
	check := func(when, want string) {
		t.Helper()
		p := make([]byte, 3)
		if n, err := d.ReadAt(background, "t", p, 0); err != nil || string(p[:n]) != want {
			t.Errorf("%s: ReadAt = %q, %v; want %s", when, p[:n], err, want)
		}
	}
	check("at first", "old")
	noError(t, errors.Join(os.WriteFile(next, []byte("new"), 0o666), rename(next, name)))
	check("while the file is open", "old")
	d.Forget("t")
	d.Forget("none")
	check("after Forget", "new")
	_, err := d.ReadAt(canceled(), "t", make([]byte, 1), 0)
	checkError(t, "ReadAt", err, context.Canceled, "")
	noError(t, d.Close())
	checkError(t, "the second Close", d.Close(), os.ErrClosed, "")
	_, err = d.ReadAt(background, "t", nil, 0)
	checkError(t, "ReadAt after Close", err, os.ErrClosed, "")
	checkNoFiles(t, dir)
}

var _ interface {
	set.Source
	set.Forgetter
	Close() error
} = set.NewDir("")

var _ merge.Iterator = (*set.Iter)(nil)
