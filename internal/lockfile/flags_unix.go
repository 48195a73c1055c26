//go:build unix && !illumos && !solaris && !aix

package lockfile

import (
	"os"
	"syscall"
)

const flags = os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY
