//go:build unix && !illumos && !solaris && !aix

package lockfile

import (
	"os"
	"syscall"
)

// Flags are flags of os.OpenFile for a lock file. They prevent following a link or waiting for a pipe that was
// created after Open has checked the name.
const Flags = os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY
