package atomicfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotReplaced is returned for a name of what is no regular file, such as a device, and
// for one in /dev or /proc.
var ErrNotReplaced = errors.New("not replaced: want a regular file or a new one, outside of /dev and /proc")

// maxLinks is how many links are followed, as on Linux.
const maxLinks = 40

// locate returns the directory and the name in it of what path leads to: a regular file,
// or nothing yet.
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

// step locates path or, if that is a link, returns where it leads next.
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
		target = parent + target // not cleaned: "link/.." is where link leads
	}
	return dir, name, target, err
}

// check returns where a link leads, or else an error if what has the name is there and
// should not be replaced.
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

// ofSystem reports whether a directory is where Unix has devices, or processes with their
// open files. A link there, such as /dev/stdout, is every process's, and what it leads to
// may be written at its end by others. /dev/shm has files like any other directory.
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
