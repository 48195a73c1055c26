package sorting

import (
	"errors"
	"fmt"
	"os"
)

// TempFile is a temporary file, which is gone when the process is, however that ends,
// where the system lets an open file be removed. The zero value is none yet.
type TempFile struct {
	*os.File
	unlinked bool
}

// Create creates the file if there is none.
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
