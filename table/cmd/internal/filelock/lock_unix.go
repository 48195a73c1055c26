//go:build unix && !solaris && !aix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openFile opens a file without following a link, and without waiting for a pipe.
func openFile(name string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
	return os.OpenFile(name, flags, 0o666)
}

// lock locks a file until it is closed or the process ends, or returns ErrLocked at once. The lock is that
// of the open file: a lock of POSIX would end when the process closes the file after it has read it, as one
// of its inputs.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// unlock ends the lock.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
