//go:build unix && !solaris && !aix

package seen

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file, or returns errLocked. The lock is that of the open file: a lock of POSIX would end
// when the process closes the file after it has read it, as one of its inputs.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
