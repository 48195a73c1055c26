package store

import (
	"errors"
	"io/fs"

	"github.com/sievetable/sievetable/internal/regular"
)

// A localDir is a local directory given by URL. Errors contain the URL.
type localDir struct{ name, path string }

func (d localDir) Names() ([]string, error) {
	names, err := regular.DirOf(d.path).Names()
	return names, d.rename("", err)
}

func (d localDir) Stat(name string) (fs.FileInfo, error) {
	info, err := regular.DirOf(d.path).Stat(name)
	return info, d.rename(name, err)
}

func (d localDir) Open(name string) (regular.File, fs.FileInfo, error) {
	f, info, err := regular.DirOf(d.path).Open(name)
	return f, info, d.rename(name, err)
}

// rename replaces the path in an error by the file's URL.
func (d localDir) rename(name string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		if e.Path = d.name; name != "" {
			e.Path += "/" + name
		}
	}
	return err
}
