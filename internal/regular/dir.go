package regular

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// A Dir is a directory of which files are read, of the operating system or of an fs.FS.
type Dir struct {
	fsys fs.FS // nil: that of the operating system
	path string
}

// DirOf returns the directory path of the operating system.
func DirOf(path string) Dir { return Dir{path: path} }

// DirIn returns the directory path of fsys. "." is its root.
func DirIn(fsys fs.FS, path string) Dir { return Dir{fsys, path} }

// FS returns the fs.FS that has the directory, or nil for one of the operating system.
func (d Dir) FS() fs.FS { return d.fsys }

// Path returns the path of the file name in the directory.
func (d Dir) Path(name string) string {
	if d.fsys != nil {
		return path.Join(d.path, name)
	}
	return filepath.Join(d.path, name)
}

// Open opens a file of the directory, as the package's Open and OpenFS do.
func (d Dir) Open(name string) (File, fs.FileInfo, error) {
	if d.fsys != nil {
		return OpenFS(d.fsys, d.Path(name))
	}
	f, info, err := Open(d.Path(name))
	if err != nil {
		return nil, nil, err // no *os.File that is nil
	}
	return f, info, nil
}

// Stat returns the FileInfo of a file of the directory.
func (d Dir) Stat(name string) (fs.FileInfo, error) {
	if d.fsys != nil {
		return fs.Stat(d.fsys, d.Path(name))
	}
	return os.Stat(d.Path(name))
}

// Names returns the names of the files in the directory, in any order.
func (d Dir) Names() ([]string, error) {
	if d.fsys != nil {
		entries, err := fs.ReadDir(d.fsys, d.path)
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.Name()
		}
		return names, err
	}
	f, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	return f.Readdirnames(-1)
}
