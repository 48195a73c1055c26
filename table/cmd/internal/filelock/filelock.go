// Package filelock locks files against other processes.
package filelock

import (
	"errors"
	"io/fs"
	"os"

	"github.com/sievetable/sievetable/internal/regular"
)

// ErrLocked means that another open file has the lock, of this process or of another.
var ErrLocked = errors.New("locked")

// A Lock is an open lock file that is locked.
type Lock struct{ *os.File }

// Close ends the lock and closes the file. Closing alone would leave the lock to a process that is being started, which
// has the file open for a moment.
func (l *Lock) Close() error { return errors.Join(unlock(l.File), l.File.Close()) }

// Open opens the lock file of this name, and locks it until it is closed or the process ends. If there is none, it
// creates the file. If another open file has the lock, it returns ErrLocked at once.
//
// If the name is not that of a regular file, such as of a symbolic link, whether it dangles or not, Open returns an
// error: it creates no file elsewhere, and does not wait for a pipe. Where files cannot be locked, the error is an
// errors.ErrUnsupported, and no file is created.
func Open(name string) (*Lock, error) {
	for {
		f, err := openLocked(name)
		if err != nil {
			return nil, err
		}
		// The process that had the lock before may have removed the file before it ended the lock.
		excludes, err := isNamed(f)
		if excludes && err == nil {
			return &Lock{f}, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// openLocked returns the lock file, locked.
func openLocked(name string) (*os.File, error) {
	f, err := openFile(name)
	if err != nil {
		if info, statErr := os.Lstat(name); statErr == nil && !info.Mode().IsRegular() { // such as a link
			err = notRegular(info)
		}
		return nil, named(name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(info)
	}
	if err == nil {
		err = lock(f)
	}
	if err != nil {
		return nil, errors.Join(named(name, err), f.Close())
	}
	return f, nil
}

func notRegular(info fs.FileInfo) error {
	return errors.New(regular.Kind(info.Mode()) + ", not a regular file: remove it")
}

// named returns the error with the name of the lock file.
func named(name string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return &fs.PathError{Op: "lock", Path: name, Err: err}
}

// IsNamed reports whether the lock file still has its name: another process can have removed or replaced it,
// and then the lock excludes nobody.
func (l *Lock) IsNamed() (bool, error) { return isNamed(l.File) }

func isNamed(f *os.File) (bool, error) {
	name, err := os.Lstat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	held, err := f.Stat()
	return err == nil && os.SameFile(name, held), err
}
