//go:build unix

package set

import "syscall"

// defaultMaxOpenFiles returns a quarter of the open files that the process may have. The rest is for the
// program: its connections, and other sets.
func defaultMaxOpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return maxOpenFiles
	}
	return int(max(1, min(uint64(limit.Cur)/4, maxOpenFiles)))
}
