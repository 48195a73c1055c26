//go:build !unix || illumos || solaris || aix

package lockfile

import "os"

// Some of these systems lock only a file that is open for writing.
const flags = os.O_CREATE | os.O_RDWR
