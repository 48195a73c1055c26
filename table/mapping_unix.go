//go:build unix

package table

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// mapFile maps a file of size bytes into memory. It returns nil if that is not possible, or if too
// many are mapped: the file is then read.
func mapFile(f *os.File, size int64) *mapping {
	if size <= 0 || size > math.MaxInt || !mappings.take() {
		return nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		mappings.give()
		return nil
	}
	m := &mapping{f.Name(), data}
	runtime.AddCleanup(m, func(data []byte) {
		_ = syscall.Munmap(data)
		mappings.give()
	}, data)
	return m
}

// mappings bounds how many files are mapped. The system bounds the mappings of a process. When they
// are used up, Go's runtime gets no memory, and ends the process.
var mappings = mappingCount{limit: sync.OnceValue(maxMappings)}

type mappingCount struct {
	n     atomic.Int64
	limit func() int64
}

// take counts one more, unless there are too many.
func (c *mappingCount) take() bool {
	if c.n.Add(1) <= c.limit() {
		return true
	}
	c.give()
	return false
}

func (c *mappingCount) give() { c.n.Add(-1) }

// maxMappings returns how many files may be mapped: half of what Linux allows, which leaves the other
// half to Go and other packages. Other systems have no such bound.
func maxMappings() int64 {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		const usual = 65530
		n = usual
	}
	return n / 2
}
