//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepMode gives a new file or directory the owner and the permissions of the one that it replaces, as far as the process
// may. Errors do not matter: the file is then one of the process, as any new one.
func keepMode(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(s.Uid), int(s.Gid))
	}
	f.Chmod(old.Mode().Perm())
}
