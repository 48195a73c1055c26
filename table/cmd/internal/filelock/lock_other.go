//go:build solaris || aix || (!unix && !windows)

package filelock

import (
	"errors"
	"os"
)

// openFile returns an error: on these systems two processes could have the lock.
func openFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func lock(*os.File) error { return errors.ErrUnsupported }

func unlock(*os.File) error { return nil }
