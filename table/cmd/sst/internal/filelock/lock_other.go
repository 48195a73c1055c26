//go:build solaris || aix || (!unix && !windows)

package filelock

import (
	"errors"
	"os"
)

// Lock returns an error: on these systems two processes could have the lock.
func Lock(*os.File) error { return errors.ErrUnsupported }
