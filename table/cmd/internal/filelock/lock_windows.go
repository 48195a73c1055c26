package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// openFile opens a file. Of a link it opens the link itself.
func openFile(name string) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	const (
		access     = windows.GENERIC_READ | windows.GENERIC_WRITE
		share      = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE
		attributes = windows.FILE_ATTRIBUTE_NORMAL | windows.FILE_FLAG_OPEN_REPARSE_POINT
	)
	h, err := windows.CreateFile(path, access, share, nil, windows.OPEN_ALWAYS, attributes, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), name), nil
}

// lock locks a file until it is closed or the process ends, or returns ErrLocked at once.
func lock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

// unlock ends the lock.
func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}
