// Package regular opens regular files for reading.
package regular

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// Open opens a regular file for reading, and returns its FileInfo. For any other file it returns an error that names
// the kind of file. Unlike opening a pipe, it never blocks.
func Open(name string) (*os.File, fs.FileInfo, error) {
	if runtime.GOOS == "windows" {
		dir, base := filepath.Split(name)
		// There, an open file can be deleted or replaced only if it was opened in a Root.
		if root, err := os.OpenRoot(cmp.Or(dir, ".")); err == nil {
			defer root.Close()
			if f, info, err := OpenIn(root, base); err == nil {
				return f, info, nil
			}
		}
	}
	return open(name, os.Stat, os.OpenFile) // on Windows, also a link to another directory
}

// OpenIn is like Open, for a file in root. Symbolic links are followed only within root.
func OpenIn(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return open(name, root.Stat, root.OpenFile)
}

func open(name string, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, fs.FileInfo, error) {
	f, err := openFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		if info, statErr := stat(name); statErr == nil && !info.Mode().IsRegular() { // for example, a socket
			err = Check(name, info)
		}
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = Check(name, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// Check returns an error if info does not describe a regular file.
func Check(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: NotRegularError{info.Mode()}}
}

// A NotRegularError means that a file is not regular. It is wrapped in an fs.PathError with the path.
type NotRegularError struct{ Mode fs.FileMode }

func (e NotRegularError) Error() string {
	kind := "something else"
	switch m := e.Mode; {
	case m&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	case m&fs.ModeDir != 0:
		kind = "a directory"
	case m&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	case m&fs.ModeDevice != 0:
		kind = "a device"
	}
	return kind + ", not a regular file"
}

// A File is an open file that can be read at any offset.
type File interface {
	fs.File
	io.ReaderAt
}

// OpenFS opens a regular file of fsys for reading, and returns its FileInfo. A file without a ReadAt method, such as
// one in a zip archive, is an error. OpenFS checks the kind of file before opening it, since opening a pipe can
// block.
func OpenFS(fsys fs.FS, name string) (File, fs.FileInfo, error) {
	if fsys == nil {
		return nil, nil, errors.New("nil file system")
	}
	info, err := fs.Stat(fsys, name)
	if err == nil {
		err = Check(name, info)
	}
	if err != nil {
		return nil, nil, err
	}
	opened, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err = opened.Stat()
	f, ok := opened.(File)
	if err == nil && !ok {
		err = &fs.PathError{Op: "open", Path: name, Err: errNoReadAt}
	}
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	return f, info, nil
}

var errNoReadAt = errors.New("the file has no method ReadAt: read it into memory, or copy it to a directory")

// A Dir is a directory of the operating system or of an fs.FS, from which files are read.
type Dir struct {
	fsys fs.FS // nil: the operating system
	path string
}

// DirOf returns the directory at path in the operating system.
func DirOf(path string) Dir { return Dir{path: path} }

// DirIn returns the directory at path in fsys. "." is its root.
func DirIn(fsys fs.FS, path string) Dir { return Dir{fsys, path} }

// FS returns the fs.FS that contains the directory, or nil for the operating system.
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
		return nil, nil, err // not a nil *os.File in the interface
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

// Identify returns the FileInfo of a file or directory, for a later [os.SameFile]. On Windows, SameFile gets its number
// by its path, only when first needed. Another file may have that path by then, so Identify gets the number at once.
func Identify(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		os.SameFile(info, info)
	}
	return info, err
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
