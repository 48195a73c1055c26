// Package filelock locks files against other processes.
package filelock

import (
	"context"

	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/internal/lockfile"
)

// newLock returns a lock file that is not open yet. The lock belongs to the open file, except on Solaris and AIX: their
// POSIX locks also end when the process closes the file after it has read it as one of its inputs. Close first unlocks
// the file. Closing alone would leave the lock to a process that is just starting, which has the file open for a moment.
func newLock(name string) lockfile.Handle {
	return flock.New(name, flock.SetFlag(lockfile.Flags), flock.SetPermissions(lockfile.Mode))
}

// Open opens the lock file of this name, and locks it as [lockfile.Open] does.
func Open(name string) (lockfile.Handle, error) {
	l := newLock(name)
	if err := lockfile.Open(l); err != nil {
		return nil, err
	}
	return l, nil
}

// Wait locks the lock file of this name as [lockfile.Wait] does.
func Wait(ctx context.Context, name string) (unlock func(), err error) {
	return lockfile.Wait(ctx, newLock(name))
}
