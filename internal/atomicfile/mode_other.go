//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// keepMode does nothing, since permissions do not belong to files here.
func keepMode(*os.File, fs.FileInfo) {}

// isMountPoint always returns false: mount points are unknown here.
var isMountPoint = func(string) bool { return false }
