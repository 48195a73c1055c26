//go:build unix && !illumos && !solaris && !aix

package store

import (
	"os"
	"syscall"
)

// lockFlags have a lock file opened without following a link, and without waiting for a pipe.
const lockFlags = os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY
