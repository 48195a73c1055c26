package store

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/set"
)

// openDir opens a directory, which must exist except for the prefix.
func (s *Store) openDir(u *url.URL, prefix string) error {
	root := dirOf(u)
	if _, err := os.ReadDir(root); err != nil {
		return err
	}
	s.Dir = filepath.Join(root, prefix)
	s.Store = &set.DirStore{Dir: s.Dir, LockFile: filelock.Wait}
	return nil
}

// dirOf returns the path of a file URL.
func dirOf(u *url.URL) string {
	dir := u.Path
	if u.Host == "." || filepath.Separator != '/' {
		dir = strings.TrimPrefix(dir, "/")
	}
	return filepath.Clean(filepath.FromSlash(dir))
}
