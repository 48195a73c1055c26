// Package files reads local files, and the files of directories that URLs name. A program registers what opens such
// a directory, by the scheme of its URLs.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// schemes are those of the URLs of directories. To other programs such a URL is the path of a file.
var schemes = []string{"s3://", "gs://", "file://"}

// IsURL reports whether a path is a URL, or that of a file in a directory that a URL names.
func IsURL(path string) bool {
	return slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(path, scheme) })
}

// IsRemote reports whether a file is read by requests over a network.
func IsRemote(path string) bool { return IsURL(path) && !strings.HasPrefix(path, "file://") }

// CommandLine returns a command line of sst, in which path takes the place of %s in the arguments. For a URL, it is one
// of sstcloud, and the user has to insert the URL, since its parameters are not in path.
func CommandLine(arguments, path string) string {
	if IsURL(path) {
		return fmt.Sprintf("sstcloud "+arguments, "URL")
	}
	return fmt.Sprintf("sst "+arguments, text.ShellPath(path))
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
		return nil, nil, err // no *os.File that is nil
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

// Exists reports whether there is something of that name, such as a link that leads nowhere.
func Exists(path string) bool {
	lstat := os.Lstat
	if IsURL(path) {
		lstat = Stat
	}
	_, err := lstat(path)
	return err == nil
}

// IsDir reports whether a path is that of a directory.
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
