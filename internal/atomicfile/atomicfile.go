// Package atomicfile writes a file under a temporary name, and renames it once it is completely on disk. So a file
// with the final name is never half written.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// A File is a file with a temporary name, in the directory of its final name. The order of calls is
//
//	Create Write* (Commit | Abort)
//
// One goroutine at a time may use it, except that any may call Abort at any time.
type File struct {
	dir  *os.Root // stays the same directory if it is renamed, or if the process changes its own
	tmp  *os.File
	name string    // the final name, in dir
	end  sync.Once // done when the file has its final name, or Abort has removed it

	sync   func(*os.File) error // tests replace this and rename
	rename func(oldName, newName string) error
}

// Create creates a File that Commit will rename to path. Until then its name is sievetable-….tmp. If it replaces a
// file, it gets that file's permissions and, if the process may set it, its owner. If path is a symbolic link, the
// File replaces the link's target. If the target exists and is not a regular file, the error is ErrNotReplaced.
func Create(path string) (*File, error) { return CreateOwned(path, "") }

// CreateOwned is like Create, with the temporary name sievetable-owner-….tmp. By that name, a program that was
// killed recognizes the files it has left behind, as opposed to files that others still write. If owner is "", the
// name has no owner.
func CreateOwned(path, owner string) (f *File, err error) {
	defer func() { err = failed("create", path, err) }()
	dir, name, err := locate(path)
	if err != nil {
		return nil, err
	}
	tmp, err := dir.OpenFile(temporaryName(owner), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if old, err := dir.Stat(name); err == nil {
		keepMode(tmp, old)
	}
	return &File{dir: dir, tmp: tmp, name: name, sync: (*os.File).Sync, rename: dir.Rename}, nil
}

// failed adds to an error the operation that failed and the file's final name. A nil error stays nil.
func failed(what, path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", what, path, cause(err))
}

// cause returns a system call's error without the file name, which is temporary.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err
	}
	return err
}

// named adds the file's final name to an error of writing it.
func (f *File) named(err error) error {
	return failed("write", filepath.Join(f.dir.Name(), f.name), err)
}

// Write writes to the temporary file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.tmp.Write(p)
	return n, f.named(err)
}

// Stat describes the temporary file.
func (f *File) Stat() (fs.FileInfo, error) { return f.tmp.Stat() }

// Commit syncs all files to disk and then renames them to their final names, replacing existing files. If it fails,
// it removes the files that do not have their final names yet. A file that has its final name stays, even if its
// directory cannot be synced and a crash could undo the rename: by then another process may use the file, or have
// replaced it.
func Commit(files ...*File) error {
	dirs := make([]*os.File, len(files))
	var err error
	for i, f := range files {
		if err == nil {
			dirs[i], err = f.finish()
			defer dirs[i].Close()
		}
	}
	for i, f := range files {
		if err == nil {
			err = f.publish(dirs[i])
		}
		if err != nil {
			err = errors.Join(err, f.Abort())
		}
	}
	return err
}

// finish syncs the file to disk and closes it. It opens the file's directory, so that failing to open it is noticed
// before any file is replaced.
func (f *File) finish() (dir *os.File, err error) {
	if err := errors.Join(cause(f.sync(f.tmp)), cause(f.tmp.Close())); err != nil {
		return nil, f.named(err)
	}
	dir, err = f.dir.Open(".")
	return dir, f.named(err)
}

// publish renames the file to its final name, and syncs its directory.
func (f *File) publish(dir *os.File) error {
	if err := f.rename(filepath.Base(f.tmp.Name()), f.name); err != nil {
		return f.named(err)
	}
	f.end.Do(func() {})
	defer f.dir.Close()
	return f.named(syncDir(dir, f.sync))
}

// syncDir syncs a directory, if the system can.
func syncDir(dir *os.File, sync func(*os.File) error) error {
	if runtime.GOOS == "windows" { // it cannot sync directories
		return nil
	}
	err := sync(dir)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) { // the file system cannot
		return nil
	}
	return err
}

// Abort removes the temporary file. After Commit or Abort it does nothing, so it can be deferred. Any goroutine may
// call it at any time. A concurrent Write or Commit then fails, unless Commit has renamed the file already. When any
// call of Abort returns, the temporary file is gone.
func (f *File) Abort() (err error) {
	f.end.Do(func() { err = f.remove() })
	return err
}

func (f *File) remove() error {
	defer f.dir.Close() // its error does not matter: nothing is written through it
	f.tmp.Close()       // its contents do not matter
	if err := f.dir.Remove(filepath.Base(f.tmp.Name())); err != nil {
		return fmt.Errorf("remove a temporary file in %q: %w", f.dir.Name(), cause(err))
	}
	return nil
}

// ErrNotReplaced is the error for an existing file that is not regular, such as a device, and for any name in /dev
// or /proc.
var ErrNotReplaced = errors.New("not replaced: it must be a regular file or a new one, outside of /dev and /proc")

// maxLinks is the number of symbolic links that are followed, as on Linux.
const maxLinks = 40

// locate follows links. It returns the directory and the name of the file that path leads to, which is a regular
// file or does not exist yet.
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

// Resolve returns the path of the file that Create(path) would replace or create. It follows links, including those
// to files that do not exist yet.
func Resolve(path string) (string, error) {
	dir, name, err := locate(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir.Name())
	return filepath.Join(real, name), errors.Join(err, dir.Close())
}

// step returns the directory and the name of path. If path is a link, next is its target.
func step(path string) (dir *os.Root, name, next string, err error) {
	parent, name := filepath.Split(path)
	if name == "" {
		return nil, "", "", errors.New("not the name of a file")
	}
	if !filepath.IsLocal(name) || ofSystem(cmp.Or(parent, ".")) { // not local: .., and NUL on Windows
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
		target = parent + target // not filepath.Join: "link/.." is the parent of link's target
	}
	return dir, name, target, err
}

// check returns the target of name if name is a link. If name exists and is neither a link nor a regular file, check
// returns an error.
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

// ofSystem reports whether a directory is in /dev or /proc, where Unix has devices, processes and their open files.
// Links there, such as /dev/stdout, are shared by all processes, and others may append to their targets. /dev/shm is
// like any other directory.
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
