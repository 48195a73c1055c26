// Package filelock locks files against other processes.
package filelock

import (
	"context"

	"github.com/gofrs/flock"

	"github.com/sievetable/sievetable/internal/lockfile"
)

// newLock returns a lock file that is not open yet. The lock belongs to the open file, except on Solaris and AIX:
// their POSIX locks also end if the process reads the same file as an input and closes it. Close unlocks the file
// before it closes it: a child process that is just starting has the file open for a moment, and would keep the
// lock.
func newLock(name string) lockfile.Handle {
	return flock.New(name, flock.SetFlag(lockfile.Flags), flock.SetPermissions(lockfile.Mode))
}

// Open opens and locks the named lock file, like [lockfile.Open].
func Open(name string) (lockfile.Handle, error) {
	l := newLock(name)
	if err := lockfile.Open(l); err != nil {
		return nil, err
	}
	return l, nil
}

// Wait waits for the lock on the named lock file, like [lockfile.Wait].
func Wait(ctx context.Context, name string) (unlock func(), err error) {
	return lockfile.Wait(ctx, newLock(name))
}
