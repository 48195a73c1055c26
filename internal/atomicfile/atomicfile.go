// Package atomicfile writes files that appear under their names when all of them is
// on disk.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
)

// A File is a file under a temporary name beside its final one:
//
//	Create Write* (Commit | Abort)
//
// It serves one goroutine at a time, but for Abort.
type File struct {
	dir  *os.Root // stays the same directory, wherever it or the process moves
	tmp  *os.File
	name string // the final one, in dir
	done atomic.Bool

	sync   func(*os.File) error // what a test makes fail, as is the next
	rename func(oldName, newName string) error
}

// Create creates the temporary file, which is called sievetable-….tmp. Where path is a
// link, the file is the one that it leads to, in that one's directory. What is there by
// now and no regular file is not replaced.
func Create(path string) (*File, error) {
	f, err := createAt(path)
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err // which has a name that nobody gave
	}
	if err != nil {
		return nil, fmt.Errorf("create %q: %w", path, err)
	}
	return f, nil
}

func createAt(path string) (*File, error) {
	dir, name, err := locate(path)
	if err != nil {
		return nil, err
	}
	tmp, err := dir.OpenFile(fmt.Sprintf("sievetable-%016x.tmp", rand.Uint64()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return &File{dir: dir, tmp: tmp, name: name, sync: (*os.File).Sync, rename: dir.Rename}, nil
}

// Write writes to the temporary file.
func (f *File) Write(p []byte) (int, error) { return f.tmp.Write(p) }

// Stat describes the temporary file.
func (f *File) Stat() (fs.FileInfo, error) { return f.tmp.Stat() }

// Commit puts the files on disk, and there under their final names, in place of what
// has these. None has its name before all are on disk. If it fails, what has no final
// name yet is removed; so is a file whose name may not last, because its directory
// could not be synced.
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

// finish puts the file on disk, and returns its directory, opened before anything is
// replaced.
func (f *File) finish() (dir *os.File, err error) {
	if err := f.sync(f.tmp); err != nil {
		return nil, err
	}
	if err := f.tmp.Close(); err != nil {
		return nil, err
	}
	return f.dir.Open(".")
}

// publish gives the file its final name.
func (f *File) publish(dir *os.File) error {
	if err := f.rename(filepath.Base(f.tmp.Name()), f.name); err != nil {
		return err
	}
	f.done.Store(true)
	defer f.dir.Close()
	if runtime.GOOS == "windows" { // which cannot be asked to make names last
		return nil
	}
	if err := f.sync(dir); err != nil && !cannotSync(err) {
		return errors.Join(err, f.dir.Remove(f.name))
	}
	return nil
}

// cannotSync reports whether err is how a file system says that it does not sync
// directories, and not that it failed to.
func cannotSync(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

// Abort removes the temporary file. After Commit or Abort it does nothing, so that it
// can be deferred. Another goroutine may call it at any time: what the File's own one
// is at fails then, Commit unless the file has its final name already.
func (f *File) Abort() error {
	if f.done.Swap(true) {
		return nil
	}
	defer f.dir.Close() // nothing is written through it
	err := f.tmp.Close()
	if errors.Is(err, fs.ErrClosed) { // by Commit, which said so if that failed
		err = nil
	}
	return errors.Join(err, f.dir.Remove(filepath.Base(f.tmp.Name())))
}
