// Package filelock locks files against other processes.
package filelock

import (
	"errors"
	"io/fs"
	"os"
)

// ErrLocked means that another open file has the lock, of this process or of another.
var ErrLocked = errors.New("locked")

// IsNamed reports whether an open file still has its name: another process can have removed or replaced it,
// and then a lock of it excludes nobody.
func IsNamed(f *os.File) (bool, error) {
	name, err := os.Stat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	held, err := f.Stat()
	return err == nil && os.SameFile(name, held), err
}
