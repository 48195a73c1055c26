//go:build !unix || illumos || solaris || aix

package setio

import "os"

// lockFlags open the file for writing too: some systems lock only such files.
const lockFlags = os.O_CREATE | os.O_RDWR
