package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A FileError says which file errors are about.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the file.
func (e *FileError) Unwrap() error { return e.Err }

// NewName returns the path with another suffix, and a number before it if need be for a
// name that no file has.
func NewName(path, suffix string) string {
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	name := stem + suffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", stem, n, suffix)
	}
}
