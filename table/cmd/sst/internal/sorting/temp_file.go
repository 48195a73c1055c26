package sorting

import (
	"errors"
	"fmt"
	"os"
)

// A TempFile is a temporary file. If the system can remove open files, it is removed at
// once, so that it is gone however the process ends. The zero value has no file.
type TempFile struct {
	*os.File
	unlinked bool
}

// Create creates the file, if there is none yet.
func (t *TempFile) Create(dir string) (err error) {
	if t.File != nil {
		return nil
	}
	if t.File, err = os.CreateTemp(dir, "sst-*.tmp"); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	t.unlinked = os.Remove(t.Name()) == nil
	return nil
}

// Close removes the file.
func (t *TempFile) Close() error {
	if t.File == nil {
		return nil
	}
	err := t.File.Close()
	if !t.unlinked {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
