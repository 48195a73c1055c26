//go:build unix && !aix && !solaris

package alloc

import (
	"math"
	"syscall"
)

// reserve requests memory from the system as the runtime does, and releases it unused.
func reserve(bytes uint64) error {
	if bytes > math.MaxInt {
		return syscall.ENOMEM
	}
	memory, err := syscall.Mmap(-1, 0, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	return syscall.Munmap(memory)
}
