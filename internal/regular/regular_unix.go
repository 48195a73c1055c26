//go:build unix

package regular

import (
	"math"
	"syscall"
)

// nonblocking opens a pipe without waiting for a writer, and a terminal without making it the
// controlling terminal of the process.
const nonblocking = syscall.O_NONBLOCK | syscall.O_NOCTTY

// MaxOpenFiles returns a quarter of the process's limit on open files. The rest is for its connections and other
// files.
func MaxOpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(max(1, min(uint64(limit.Cur)/4, math.MaxInt32)))
}
