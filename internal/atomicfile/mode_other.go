//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// keepMode does nothing: permissions are not those of files here.
func keepMode(*os.File, fs.FileInfo) {}
