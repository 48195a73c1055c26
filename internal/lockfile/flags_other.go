//go:build !unix || illumos || solaris || aix

package lockfile

import "os"

// Flags are flags of os.OpenFile for a lock file. Some of these systems lock only a file that is open for writing.
const Flags = os.O_CREATE | os.O_RDWR
