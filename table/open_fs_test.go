package table_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// A table of a file system is as one of NewReader, and its file is closed.
func TestOpenFS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pairs := numbered(300)
	contents := build(t, withBloom, pairs)
	damaged := bytes.Clone(contents)
	damaged[len(damaged)-1] ^= 1
	for name, c := range map[string][]byte{"a.ldb": contents, "damaged.ldb": damaged} {
		if err := os.WriteFile(filepath.Join(dir, name), c, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fsys := os.DirFS(dir)
	r, err := table.OpenFS(fsys, "a.ldb", nil)
	if err != nil {
		t.Fatal(err)
	}
	checkLookups(t, r, pairs)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Get(pairs[0].Key); err != table.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	for name, want := range map[string]error{"damaged.ldb": table.ErrCorrupt, "none.ldb": fs.ErrNotExist, "../a.ldb": fs.ErrInvalid} {
		if _, err := table.OpenFS(fsys, name, nil); !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
			t.Errorf("OpenFS(%q) = %v, want %v", name, err, want)
		}
	}
}

// What cannot be read at any offset is an error that says what to do.
func TestOpenFSOfOtherFiles(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	f, err := w.Create("dir/a.ldb")
	if err == nil {
		_, err = f.Write(build(t, nil, nil))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"dir": "open dir: a directory, want a regular file", "dir/a.ldb": "open dir/a.ldb: the file has no method ReadAt: read it"} {
		if _, err := table.OpenFS(z, name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("OpenFS(%q) = %v, want %q", name, err, want)
		}
	}
}
