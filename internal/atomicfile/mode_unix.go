//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// keepMode gives a new file or directory the owner and the permissions of the one it replaces, as far as the process
// may. Errors do not matter: the file then belongs to the process, like any new file.
func keepMode(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(s.Uid), int(s.Gid))
	}
	f.Chmod(old.Mode().Perm())
}

// isMountPoint reports whether a directory is the root of another file system. Tests replace it.
var isMountPoint = func(path string) bool {
	dir, err := os.Stat(path)
	above, aboveErr := os.Stat(filepath.Dir(path))
	if err != nil || aboveErr != nil {
		return false
	}
	s, ok := dir.Sys().(*syscall.Stat_t)
	t, aboveOK := above.Sys().(*syscall.Stat_t)
	return ok && aboveOK && s.Dev != t.Dev
}
