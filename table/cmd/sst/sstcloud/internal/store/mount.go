package store

import (
	"context"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// extensions lists the extensions of single files. Any other path is a directory.
var extensions = []string{".ldb", ".sst", ".filter", ".jsonl", ".log"}

// Mount opens the URL of a store, or of a file in a store, for files.OpenURL.
func Mount(rawURL string) (dir, file string, d files.Mounted, err error) {
	rawURL, file = cutFile(rawURL)
	s, err := openFor(context.Background(), rawURL, file)
	if err != nil {
		return "", "", nil, err
	}
	dir = strings.TrimSuffix(s.name, "/")
	if s.Dir != "" {
		return dir, file, localDir{dir, s.Dir}, nil
	}
	return dir, file, newBucketDir(dir, s.Bucket, file != ""), nil
}

// cutFile removes the file name from the path of a URL, and returns both.
func cutFile(rawURL string) (dir, file string) {
	u, err := url.Parse(rawURL)
	if err != nil || !slices.Contains(extensions, path.Ext(u.Path)) {
		return rawURL, ""
	}
	if info, err := os.Stat(dirOf(u)); u.Scheme == "file" && err == nil && info.IsDir() {
		return rawURL, ""
	}
	u.Path, file = path.Split(u.Path)
	u.RawPath = ""
	return u.String(), file
}
