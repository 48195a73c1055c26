//go:build unix

package tablefile

import (
	"math"
	"os"
	"runtime"
	"syscall"

	"github.com/sievetable/sievetable/internal/mappings"
)

// Map maps a file of size bytes into memory. It returns nil if that is not possible or too many files are mapped.
// The file is then read instead.
func Map(f *os.File, size int64) *Mapping {
	if size <= 0 || size > math.MaxInt || !mappings.Take() {
		return nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		mappings.Give()
		return nil
	}
	m := &Mapping{f.Name(), data}
	runtime.AddCleanup(m, func(data []byte) {
		_ = syscall.Munmap(data)
		mappings.Give()
	}, data)
	return m
}
