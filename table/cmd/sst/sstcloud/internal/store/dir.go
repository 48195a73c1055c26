package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"
)

// openDir opens a directory. If the URL does not say otherwise, it has the objects alone: no files
// with attributes, and temporary files beside them, so that they can be renamed.
func openDir(ctx context.Context, u *url.URL, s *Store) (*blob.Bucket, error) {
	q := u.Query()
	for name, value := range map[string]string{"metadata": "skip", "no_tmp_dir": "true"} {
		if !q.Has(name) {
			q.Set(name, value)
		}
	}
	u.RawQuery = q.Encode()
	s.dir = dirOf(u)
	if resolved, err := filepath.EvalSymlinks(s.dir); err == nil { // the driver lists nothing in a link
		s.dir = resolved
	}
	opened := *u
	opened.Path = filepath.ToSlash(s.dir)
	if opened.Host = ""; !filepath.IsAbs(s.dir) {
		opened.Host, opened.Path = ".", "/"+opened.Path
	}
	return (&fileblob.URLOpener{}).OpenBucketURL(ctx, &opened)
}

// dirOf returns the directory of a file URL.
func dirOf(u *url.URL) string {
	dir := u.Path
	if u.Host == "." || filepath.Separator != '/' {
		dir = strings.TrimPrefix(dir, "/")
	}
	return filepath.Clean(filepath.FromSlash(dir))
}

// checkDir returns an error if the driver would list no objects because it cannot look for them.
func (s *Store) checkDir() error {
	info, err := os.Lstat(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no object has the prefix
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link, in which no object is found: give the directory that it leads to", s.dir)
	}
	if err != nil {
		return err
	}
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer d.Close() // it was only read
	if _, err := d.Readdirnames(1); err != io.EOF {
		return err
	}
	return nil
}

// follow returns the object that a list has. If it is a symbolic link in a directory, size and time are
// those of its file. Without a file, ok is false.
func (s *Store) follow(ctx context.Context, o *blob.ListObject) (object Object, ok bool, err error) {
	object = Object{o.Key, o.Size, o.ModTime}
	var info fs.FileInfo
	if !s.IsDir() || !o.As(&info) || info.Mode()&fs.ModeSymlink == 0 {
		return object, true, nil
	}
	a, err := s.Attributes(ctx, o.Key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return object, false, nil
	}
	if err != nil {
		return object, false, fmt.Errorf("%s: follow the symbolic link: %w", s.Name(o.Key), err)
	}
	object.Size, object.Modified = a.Size, a.ModTime
	return object, true, nil
}
