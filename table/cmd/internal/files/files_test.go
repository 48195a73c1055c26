package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/regular"
)

// OUT of a suggested command is outside of the input's directory, wherever the user is.
func TestOutside(t *testing.T) {
	top := t.TempDir()
	errtest.NoError(t, os.MkdirAll(filepath.Join(top, "db", "lost", "in"), 0o777))
	t.Chdir(filepath.Join(top, "db", "lost"))
	for dir, want := range map[string]string{
		".": "../NEW", "..": "../../NEW", filepath.Join(top, "db"): top + "/NEW", "in": "NEW", "../lost": "../NEW", "none": "NEW", "gs://db": "NEW",
	} {
		if got := filepath.ToSlash(Outside(dir, "NEW")); got != filepath.ToSlash(want) {
			t.Errorf("Outside(%q) = %q, want %q", dir, got, want)
		}
	}
}

// Files in directories named by URLs are read like local ones, by paths without the query.
func TestMount(t *testing.T) {
	if _, ok, err := Mount("gs://lists"); ok || err != nil {
		t.Errorf("Mount in a program that reads no URLs: %t, %v", ok, err)
	}
	in := regular.DirIn(fstest.MapFS{"set": {Data: []byte("contents")}}, ".")
	OpenURL = func(url string) (dir, file string, d Mounted, err error) {
		return "gs://lists/urls", map[string]string{"gs://lists/set?x=1": "set"}[url], in, nil
	}
	dir, ok, err := Mount("gs://lists?x=1")
	if dir != "gs://lists/urls" || !ok || err != nil {
		t.Fatalf("Mount = %q, %t, %v", dir, ok, err)
	}
	file, _, err := Mount("gs://lists/set?x=1")
	if want := Join(dir, "set"); file != want || err != nil || Dir(file) != dir {
		t.Errorf("Mount = %q, %v, want %q", file, err, want)
	}
	if names, err := Names(dir); !slices.Equal(names, []string{"set"}) || err != nil {
		t.Errorf("Names = %q, %v", names, err)
	}
	f, info, err := Open(file)
	if err != nil || info.Size() != 8 {
		t.Fatal(info, err)
	}
	errtest.NoError(t, f.Close())
	if !IsDir(dir) || IsDir(file) || !Exists(file) || Exists(Join(dir, "none")) {
		t.Error("what is a directory or exists")
	}
	if _, _, err := Mount("gs://lists?x=2"); err == nil {
		t.Error("two queries of one directory: no error")
	}
}

// A path that is not a URL is local. A path below a URL that is not mounted does not exist.
func TestPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	errtest.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	if path, ok, err := Mount(dir); path != dir || !ok || err != nil {
		t.Errorf("Mount = %q, %t, %v", path, ok, err)
	}
	if names, err := Names(dir); !slices.Equal(names, []string{"file"}) || err != nil {
		t.Errorf("Names = %q, %v", names, err)
	}
	for _, path := range []string{Join(dir, "none"), "s3://nothing/file"} {
		_, _, openErr := Open(path)
		_, statErr := Stat(path)
		if !errors.Is(openErr, fs.ErrNotExist) || !errors.Is(statErr, fs.ErrNotExist) || Exists(path) {
			t.Errorf("%s: %v, %v, want that it does not exist", path, openErr, statErr)
		}
	}
	if !IsRemote("s3://a/b") || IsRemote("file:///a") || !IsURL("file:///a") || IsURL("a/s3://b") {
		t.Error("what is a URL")
	}
}
