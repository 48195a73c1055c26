// Package filelock locks files against other processes.
package filelock

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/internal/regular"
)

// ErrLocked means that another open file has the lock, of this process or of another.
var ErrLocked = errors.New("locked")

// A Lock is an open lock file that is locked. The lock is that of the open file, except on Solaris and AIX, which have
// locks of POSIX only: these end when the process closes the file after it has read it, as one of its inputs. Close
// unlocks the file before it closes it. Closing alone would leave the lock to a process that is being started, which
// has the file open for a moment.
type Lock struct{ *flock.Flock }

// Open opens the lock file of this name, and locks it until it is closed or the process ends. If there is none, it
// creates the file. If another open file has the lock, it returns ErrLocked at once.
//
// If the name is not that of a regular file, such as of a symbolic link, whether it dangles or not, Open returns an
// error: it creates no file elsewhere, and does not wait for a pipe. Where files cannot be locked, the error is an
// errors.ErrUnsupported, and no file is created.
func Open(name string) (*Lock, error) {
	for {
		l, err := open(name)
		if err != nil {
			return nil, err
		}
		// The process that had the lock before may have removed the file before it ended the lock.
		excludes, err := l.IsNamed()
		if excludes && err == nil {
			return l, nil
		}
		if err = errors.Join(err, l.Close()); err != nil {
			return nil, err
		}
	}
}

func open(name string) (*Lock, error) {
	l := &Lock{flock.New(name, flock.SetFlag(os.O_RDWR|os.O_CREATE|openFlags), flock.SetPermissions(0o666))}
	locked, err := false, error(nil)
	if info, statErr := os.Lstat(name); statErr == nil && !info.Mode().IsRegular() { // such as a link
		err = errors.New(regular.Kind(info.Mode()) + ", not a regular file: remove it")
	} else if locked, err = l.TryLock(); err == nil && !locked {
		err = ErrLocked
	}
	if err == nil {
		return l, nil
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
}

// IsNamed reports whether the lock file still has its name: another process can have removed or replaced it,
// and then the lock excludes nobody.
func (l *Lock) IsNamed() (bool, error) {
	name, err := os.Lstat(l.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	held, err := l.Stat()
	return err == nil && os.SameFile(name, held), err
}
