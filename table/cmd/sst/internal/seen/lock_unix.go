//go:build unix

package seen

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file, or returns errLocked.
func lock(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errLocked
	}
	return err
}
