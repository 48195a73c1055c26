// Package files reads local files, and files in directories named by URLs, which a program opens by OpenURL.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
)

// schemes are the URL schemes of directories. A URL of any other scheme is a local path.
var schemes = []string{"s3://", "gs://", "file://"}

// IsURL reports whether a path is a URL, or the path of a file in a directory named by a URL.
func IsURL(path string) bool {
	return slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(path, scheme) })
}

// IsRemote reports whether a file is read over a network.
func IsRemote(path string) bool { return IsURL(path) && !strings.HasPrefix(path, "file://") }

// CommandLine returns an sst command line, with path in place of %s in the arguments. For a URL, it is an
// sstcloud command line, and the user has to insert the URL, since path lacks its parameters.
func CommandLine(arguments, path string) string {
	if IsURL(path) {
		return fmt.Sprintf("sstcloud "+arguments, "URL")
	}
	return fmt.Sprintf("sst "+arguments, format.ShellPath(path))
}

// MergeLine returns a command line that merges path. flags is empty, or ends with a space. out is a placeholder for
// OUT, which cannot be in the directory of path.
func MergeLine(flags, path, out string) string {
	dir := path
	if !IsDir(path) {
		dir = Dir(path)
	}
	return CommandLine("merge "+flags+"%s -o ", path) + format.ShellPath(Outside(dir, out))
}

// Outside returns the path of a new file or directory for a command line: name or, if the current directory is in dir,
// a path beside dir.
func Outside(dir, name string) string {
	within, err := os.Stat(dir)
	at, before := ".", fs.FileInfo(nil)
	for err == nil {
		var here fs.FileInfo
		here, err = os.Stat(at)
		switch {
		case err != nil || os.SameFile(here, before): // the root
			return name
		case os.SameFile(here, within):
			return filepath.Join(dir, "..") + string(filepath.Separator) + name
		}
		at, before = filepath.Join(at, ".."), here
	}
	return name
}

// Open opens a regular file, as package regular does.
func Open(path string) (regular.File, fs.FileInfo, error) {
	if IsURL(path) {
		d, name, err := find("open", path)
		if err == nil && name == "" {
			err = &fs.PathError{Op: "open", Path: path, Err: errors.New("a directory, not a regular file")}
		}
		if err != nil {
			return nil, nil, err
		}
		return d.Open(name)
	}
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, nil, err // not a nil *os.File in an interface
	}
	return f, info, nil
}

// Stat returns the FileInfo of a file or a directory.
func Stat(path string) (fs.FileInfo, error) {
	if !IsURL(path) {
		return os.Stat(path)
	}
	d, name, err := find("stat", path)
	if err != nil {
		return nil, err
	}
	return d.Stat(name)
}

// Exists reports whether path exists. A dangling link exists too.
func Exists(path string) bool {
	lstat := os.Lstat
	if IsURL(path) {
		lstat = Stat
	}
	_, err := lstat(path)
	return err == nil
}

// A ReplacedError says that another file or directory has taken the place of one. It is fs.ErrNotExist too, since the
// latter is gone.
type ReplacedError string

func (e ReplacedError) Error() string { return string(e) + " while it was read: run the command again" }

// Is reports whether target is fs.ErrNotExist.
func (ReplacedError) Is(target error) bool { return target == fs.ErrNotExist }

// IsDir reports whether path is a directory.
func IsDir(path string) bool {
	info, err := Stat(path)
	return err == nil && info.IsDir()
}

// Names returns the names of the files in a directory, in any order.
func Names(dir string) ([]string, error) {
	if !IsURL(dir) {
		return regular.DirOf(dir).Names()
	}
	d, _, err := find("open", dir)
	if err != nil {
		return nil, err
	}
	return d.Names()
}

// Join returns the path of a file in a directory.
func Join(dir, name string) string {
	if IsURL(dir) {
		return dir + "/" + name
	}
	return filepath.Join(dir, name)
}

// Dir returns the directory of a file.
func Dir(path string) string {
	if IsURL(path) {
		return path[:strings.LastIndex(path, "/")]
	}
	return filepath.Dir(path)
}
