package atomicfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotReplaced is the error for the name of a file that exists and is not a regular file,
// such as a device, and for any name in /dev or /proc.
var ErrNotReplaced = errors.New("not replaced: want a regular file or a new one, outside of /dev and /proc")

// maxLinks is how many symbolic links are followed, as on Linux.
const maxLinks = 40

// locate follows links. It returns the directory and the name of the file that path leads to:
// a regular file, or none yet.
func locate(path string) (*os.Root, string, error) {
	for range maxLinks {
		dir, name, next, err := step(path)
		if err != nil || next == "" {
			return dir, name, err
		}
		path = next
	}
	return nil, "", errors.New("too many links")
}

// Resolve returns the path of the file that Create(path) would replace or make: it follows links, also those
// to files that do not exist yet.
func Resolve(path string) (string, error) {
	dir, name, err := locate(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir.Name())
	return filepath.Join(real, name), errors.Join(err, dir.Close())
}

// step returns the directory and the name of path. If path is a link, next is what it leads
// to.
func step(path string) (dir *os.Root, name, next string, err error) {
	parent, name := filepath.Split(path)
	if name == "" {
		return nil, "", "", errors.New("not the name of a file")
	}
	if ofSystem(cmp.Or(parent, ".")) {
		return nil, "", "", ErrNotReplaced
	}
	if dir, err = os.OpenRoot(cmp.Or(parent, ".")); err != nil {
		return nil, "", "", err
	}
	target, err := check(dir, name)
	if err != nil || target != "" {
		err = errors.Join(err, dir.Close())
	}
	if target != "" && !filepath.IsAbs(target) {
		target = parent + target // not filepath.Join: "link/.." is the parent of what link leads to
	}
	return dir, name, target, err
}

// check returns what name leads to if it is a link. If it is there and is neither a link nor a
// regular file, check returns an error.
func check(dir *os.Root, name string) (target string, err error) {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir():
		return "", errors.New("a directory, not the name of a file")
	case info.Mode().Type() == fs.ModeSymlink:
		return dir.Readlink(name)
	case !info.Mode().IsRegular():
		return "", ErrNotReplaced
	}
	return "", nil
}

// ofSystem reports whether a directory is in /dev or /proc, where Unix has devices, processes
// and their open files. All processes share a link there, such as /dev/stdout, and others may
// append to the file that it leads to. /dev/shm has files like any other directory.
func ofSystem(dir string) bool {
	if wd, err := os.Getwd(); err == nil && !filepath.IsAbs(dir) {
		dir = wd + "/" + dir
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	dir += "/"
	return strings.HasPrefix(dir, "/proc/") || strings.HasPrefix(dir, "/dev/") && !strings.HasPrefix(dir, "/dev/shm/")
}
