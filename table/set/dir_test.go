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

// writeDir writes a set of n tables into a directory.
func writeDir(t testing.TB, dir string, n int) *set.Manifest {
	t.Helper()
	src, m := numberedSet(t, n, filtered)
	for name, contents := range src.files {
		if err := os.WriteFile(filepath.Join(dir, name), contents, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	putManifest(t, dir, m)
	return m
}

func putManifest(t testing.TB, dir string, m *set.Manifest) {
	t.Helper()
	d := set.NewDir(dir)
	if err := errors.Join(d.WriteManifest(m), d.Close()); err != nil {
		t.Fatal(err)
	}
}

// openFiles returns how many files of a directory the process has open, or 0 where the system
// does not tell.
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
	m := writeDir(t, dir, 3)
	s, err := set.OpenDir(background, dir, eager)
	if err != nil {
		t.Fatal(err)
	}
	checkGet(t, s, key(60), valueOf(60))
	checkGet(t, s, key(60)+"x", "")
	if err := s.Verify(background, nil); err != nil {
		t.Error(err)
	}
	if err := s.Swap(background, &set.Manifest{Tables: m.Tables[1:2]}); err != nil {
		t.Error(err)
	}
	if n := openFiles(dir); n > 2 {
		t.Errorf("%d files are open, want the directory and one table", n)
	}
	it := s.NewIter(background, nil)
	it.First()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !it.Next() {
		t.Error("Close has closed a file that is in use")
	}
	it.Close()
	if err := s.Drain(background); err != nil {
		t.Error(err)
	}
	if n := openFiles(dir); n != 0 {
		t.Errorf("%d files are open after Close and Drain, want 0", n)
	}
}

// A set without tables keeps no directory open either.
func TestOpenDirWithoutTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	putManifest(t, dir, new(set.Manifest))
	s, err := set.OpenDir(background, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := openFiles(dir); n != 0 {
		t.Errorf("%d files are open, want 0", n)
	}
}

func TestOpenDirOfNoSet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := set.OpenDir(background, dir, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), set.ManifestName) {
		t.Errorf("without a manifest: OpenDir = %v, want ErrNotExist", err)
	}
	if _, err := set.OpenDir(background, filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: OpenDir = %v, want ErrNotExist", err)
	}
	writeDir(t, dir, 3)
	if err := os.Remove(filepath.Join(dir, "t001")); err != nil {
		t.Fatal(err)
	}
	if _, err := set.OpenDir(background, dir, eager); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `"t001"`) {
		t.Errorf("without a table: OpenDir = %v, want ErrNotExist of t001", err)
	}
	if err := os.Truncate(filepath.Join(dir, set.ManifestName), 100); err != nil {
		t.Fatal(err)
	}
	if _, err := set.OpenDir(background, dir, nil); err == nil {
		t.Error("with half a manifest: no error")
	}
	for _, n := range []int{-1, 1<<20 + 1} {
		if _, err := set.OpenDir(background, dir, &set.Options{MaxOpenFiles: n}); err == nil || !strings.Contains(err.Error(), "must be 0 to 1048576") {
			t.Errorf("with MaxOpenFiles %d: OpenDir = %v, want an error", n, err)
		}
	}
	if n := openFiles(dir); n != 0 {
		t.Errorf("%d files are open, want 0", n)
	}
}

// A Dir reads regular files in the directory, and nothing else.
func TestDirReadsRegularFilesOnly(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	dir := filepath.Join(outside, "dir")
	if err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o666), os.MkdirAll(filepath.Join(dir, "sub"), 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(secret, filepath.Join(dir, "link")), os.Symlink("../secret", filepath.Join(dir, "up"))); err != nil {
		t.Skip(err)
	}
	d := set.NewDir(dir)
	for _, name := range []string{
		"link", "up", "sub", "none", "", ".", "..", "../secret", "sub/../../secret", secret, set.ManifestName,
	} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			if n, err := d.ReadAt(background, name, make([]byte, 6), 0); n != 0 || err == nil || !strings.HasPrefix(err.Error(), "set: ") {
				t.Errorf("ReadAt = %d, %v; want an error", n, err)
			}
		})
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A Dir keeps a file open until Forget.
func TestDirKeepsFilesUntilForget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "t")
	if err := os.WriteFile(name, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := set.NewDir(dir)
	read := func() string {
		p := make([]byte, 3)
		n, err := d.ReadAt(background, "t", p, 0)
		if err != nil {
			return err.Error()
		}
		return string(p[:n])
	}
	if got := read(); got != "old" {
		t.Errorf("ReadAt = %s, want old", got)
	}
	next := filepath.Join(dir, "next")
	if err := errors.Join(os.WriteFile(next, []byte("new"), 0o666), os.Rename(next, name)); err != nil {
		t.Skip(err) // such as on a system where an open file stays
	}
	if got := read(); got != "old" {
		t.Errorf("ReadAt = %s, want old: the file is open", got)
	}
	d.Forget("t")
	d.Forget("none")
	if got := read(); got != "new" {
		t.Errorf("ReadAt after Forget = %s, want new", got)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := d.ReadAt(ctx, "t", make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadAt = %v, want Canceled", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"Close": d.Close(), "ReadAt": func() error { _, err := d.ReadAt(background, "t", nil, 0); return err }()} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrClosed", what, err)
		}
	}
	if n := openFiles(dir); n != 0 {
		t.Errorf("%d files are open, want 0", n)
	}
}

var _ interface {
	set.Source
	set.Forgetter
	Close() error
} = set.NewDir("")

var _ merge.Iterator = (*set.Iter)(nil)
