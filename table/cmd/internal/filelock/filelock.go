// Package filelock locks files against other processes.
package filelock

import (
	"context"

	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/internal/lockfile"
)

// ErrLocked means that another open file has the lock, of this process or of another.
var ErrLocked = lockfile.ErrLocked

// A Lock is an open lock file that is locked. The lock is that of the open file, except on Solaris and AIX, which have
// locks of POSIX only: these end when the process closes the file after it has read it, as one of its inputs. Close
// unlocks the file before it closes it. Closing alone would leave the lock to a process that is being started, which
// has the file open for a moment.
type Lock struct{ *flock.Flock }

func newLock(name string) *Lock {
	return &Lock{flock.New(name, flock.SetFlag(lockfile.Flags), flock.SetPermissions(lockfile.Mode))}
}

// Open opens the lock file of this name, and locks it as [lockfile.Open] does.
func Open(name string) (*Lock, error) {
	l := newLock(name)
	if err := lockfile.Open(l); err != nil {
		return nil, err
	}
	return l, nil
}

// IsNamed reports whether the lock file still has its name, as [lockfile.IsNamed] does.
func (l *Lock) IsNamed() (bool, error) { return lockfile.IsNamed(l) }

// Wait locks the lock file of this name as [lockfile.Wait] does.
func Wait(ctx context.Context, name string) (unlock func(), err error) {
	return lockfile.Wait(ctx, newLock(name))
}
