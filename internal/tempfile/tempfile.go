// Package tempfile creates temporary files.
package tempfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is a temporary file. If the system can remove open files, Create removes it at once, so that even a killed
// process leaves no file. The zero value has no file. Errors of its own methods name only the directory.
type File struct {
	*os.File
	unlinked bool
	closed   bool
}

// Create creates the file. It is called at most once.
func (t *File) Create(dir string) (err error) {
	if t.File, err = os.CreateTemp(dir, "sievetable-*.tmp"); err != nil {
		return nameless(err)
	}
	t.unlinked = os.Remove(t.Name()) == nil
	return nil
}

// Close removes the file. A second call does nothing.
func (t *File) Close() error {
	if t.File == nil || t.closed {
		return nil
	}
	t.closed = true
	err := nameless(t.File.Close())
	if !t.unlinked {
		err = errors.Join(err, nameless(os.Remove(t.Name())))
	}
	return err
}

func (t File) ReadAt(p []byte, off int64) (int, error) {
	n, err := t.File.ReadAt(p, off)
	return n, nameless(err)
}

func (t File) Write(p []byte) (int, error) {
	n, err := t.File.Write(p)
	return n, nameless(err)
}

// nameless replaces the file name in an error by its directory.
func nameless(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return fmt.Errorf("temporary file: in %s: %w", filepath.Dir(p.Path), p.Err)
	}
	return err
}
