// Package lockfile locks files against other processes. It leaves the lock itself to a [Handle].
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/sievetable/sievetable/internal/regular"
)

// ErrLocked means that another open file has the lock, of this process or of another.
var ErrLocked = errors.New("locked")

// Mode is the permissions of a new lock file.
const Mode fs.FileMode = 0o666

// A Handle locks the lock file Path. A *flock.Flock of github.com/gofrs/flock with Flags and Mode is one.
type Handle interface {
	Path() string
	TryLock() (bool, error) // opens the file, and creates it if there is none
	Stat() (fs.FileInfo, error)
	Close() error
}

// Open locks the lock file of h until h is closed or the process ends. If another open file has the lock, Open
// returns ErrLocked at once.
//
// If the name exists and is not a regular file, Open returns an error, even for a dangling link. So it creates no
// file elsewhere, and does not wait for a pipe. If files cannot be locked, the error is an errors.ErrUnsupported.
func Open(h Handle) error {
	for {
		if err := try(h); err != nil {
			return &fs.PathError{Op: "lock", Path: h.Path(), Err: err}
		}
		// The process that held the lock before may have removed the file before it unlocked it.
		excludes, err := IsNamed(h)
		if excludes && err == nil {
			return nil
		}
		if err = errors.Join(err, h.Close()); err != nil {
			return err
		}
	}
}

func try(h Handle) error {
	if info, err := os.Lstat(h.Path()); err == nil && !info.Mode().IsRegular() { // for example, a link
		return fmt.Errorf("%w: remove it", regular.NotRegularError{Mode: info.Mode()})
	}
	locked, err := h.TryLock()
	if err == nil && !locked {
		err = ErrLocked
	}
	if err == nil {
		return nil
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	h.Close() // there is nothing to unlock
	return err
}

// IsNamed reports whether the lock file still has its name. Another process can have removed or replaced it, and
// then the lock excludes nobody.
func IsNamed(h Handle) (bool, error) {
	name, err := os.Lstat(h.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	held, err := h.Stat()
	return err == nil && name.Mode().IsRegular() && os.SameFile(name, held), err
}

// pause is the time between two attempts to lock.
const pause = 10 * time.Millisecond

// Wait is like Open, but waits while another open file has the lock. unlock removes the lock file.
func Wait(ctx context.Context, h Handle) (unlock func(), err error) {
	for {
		err := Open(h)
		if err == nil {
			return func() {
				os.Remove(h.Path()) // while nobody else can lock it; on Windows it stays, because it is open
				h.Close()
			}, nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
