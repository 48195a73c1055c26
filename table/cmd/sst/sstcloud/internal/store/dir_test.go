package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A URL is refused if a part of it would be ignored, since the set would not be where the URL says.
func TestURLsThatAreRefused(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	for url, want := range map[string]string{
		"file:" + strings.TrimPrefix(dir, "/"): "use s3://BUCKET, gs://BUCKET or file:///DIRECTORY",
		"s3://b%zz":                            `"s3://b%zz" is not a URL: invalid URL escape "%zz"`,
		"file://":                              "use file:///DIRECTORY with three slashes",
		"file://store":                         "use file:///DIRECTORY with three slashes",
		"file://store" + dir:                   "use file:///DIRECTORY with three slashes",
		"file://" + dir + "#1":                 "write %23 for a #",
		"file://" + dir + "#":                  "write %23 for a #",
		"s3://b?prefix=a/#b/":                  "write %23 for a #",
		"file://" + dir + "?x=1;prefix=a/":     "separate parameters with &",
		"gs://b?prefix=%zz/":                   "separate parameters with &",
		"s3://b?prefix=a/&prefix=b/":           "prefix is given 2 times: give it once",
		"file://" + dir + "?create_dir=true":   "a directory takes only prefix",
		"s3://":                                "missing bucket: use s3://BUCKET",
		"gs://b/some/where/":                   "a bucket has no path: use gs://b?prefix=some/where/",
		"s3://b/a+b%26c?region=eu&prefix=d":    "a bucket has no path: use s3://b?prefix=a%2Bb%26c/d/&region=eu",
		"s3://me:secret@b/x":                   "s3://me:xxxxx@b/x: a bucket has no path",
		"s3://b?prefix=where":                  "the prefix does not end with /: use ?prefix=where/",
		"s3://b?prefix=/where/":                "the prefix begins with /: use ?prefix=where/",
		"s3://b?region=eu&prefix=/a%26b":       "the prefix does not end with /: use ?prefix=a%26b/&region=eu",
		"s3://b?prefix=//":                     "the prefix begins with /: use ?prefix=",
		"file://" + dir + "?prefix=a/../../b/": "the prefix is outside the directory",
	} {
		s, err := Open(t.Context(), url)
		if err == nil {
			s.Close()
		}
		if !errors.As(err, new(cli.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", url, err, want)
		}
	}
}

// list returns the keys and sizes in a directory below the root, given by a URL with that path.
func list(t *testing.T, url string) (map[string]int64, error) {
	t.Helper()
	s, err := Open(t.Context(), url)
	noError(t, err)
	defer s.Close()
	objects, err := s.List(t.Context())
	sizes := map[string]int64{}
	for _, o := range objects {
		sizes[o.Name] = o.Size
	}
	return sizes, err
}

// A list contains the objects of a directory even if it is a symbolic link, and follows links to files.
func TestListOfLinks(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	noError(t, errors.Join(
		os.Mkdir("store", 0o700), os.Mkdir("store/deep", 0o700), os.Mkdir("other", 0o700),
		os.WriteFile("store/a", []byte("12345"), 0o600), os.WriteFile("store/deep/b", []byte("1"), 0o600),
		os.WriteFile("other/long", make([]byte, 1000), 0o600),
	))
	for name, target := range map[string]string{
		"link": "store", "store/c": "../other/long", "store/gone": "nowhere", "store/dir": "../other", "store/below": "deep",
	} {
		if err := os.Symlink(target, filepath.FromSlash(name)); err != nil {
			t.Skip(err) // on Windows not everybody may create links
		}
	}
	want := map[string]int64{"a": 5, "c": 1000}
	at := "file:///" + strings.TrimPrefix(filepath.ToSlash(root), "/")
	for _, url := range []string{
		at + "/store", at + "/link", at + "/link/", "file://./store", "file://./link", at + "?prefix=store/", at + "?prefix=link/",
	} {
		got, err := list(t, url)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, objects -want +got:\n%s", url, err, diff)
		}
	}
	if got, err := list(t, at+"/link?prefix=none/"); len(got) > 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v below a prefix that no file has", got, err)
	}
}

// If a directory's files cannot be listed, List returns an error, not an empty list.
func TestListIsRefused(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.Chmod(dir, 0o300))
	if _, err := os.ReadDir(dir); err == nil {
		t.Skip("this user may read all directories")
	}
	url := "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
	if s, err := Open(t.Context(), url); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, error %v, want fs.ErrPermission", s, err)
	}
}
