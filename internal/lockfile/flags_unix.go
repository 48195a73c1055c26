//go:build unix && !illumos && !solaris && !aix

package lockfile

import (
	"os"
	"syscall"
)

// Flags are flags of os.OpenFile for a lock file. Links are not followed and pipes not waited for, if one has come
// since Open has looked.
const Flags = os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY
