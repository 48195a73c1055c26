//go:build unix

package table

import (
	"math"
	"os"
	"runtime"
	"syscall"
)

// mapFile maps a file of size bytes into memory. It returns nil if that is not possible: the file
// is then read.
func mapFile(f *os.File, size int64) *mapping {
	if size <= 0 || size > math.MaxInt {
		return nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	m := &mapping{f.Name(), data}
	runtime.AddCleanup(m, func(data []byte) { _ = syscall.Munmap(data) }, data)
	return m
}
