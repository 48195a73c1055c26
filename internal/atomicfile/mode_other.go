//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// keepMode does nothing: permissions are not those of files here.
func keepMode(*os.File, fs.FileInfo) {}

// isMountPoint returns false: it is not known here.
var isMountPoint = func(string) bool { return false }
