// Package mappings bounds the number of files that a process maps into memory. The system limits mappings. If none
// are left, Go's runtime cannot allocate memory, and ends the process.
package mappings

import (
	"sync"
	"sync/atomic"
)

var (
	taken atomic.Int64
	limit = sync.OnceValue(most)
)

// Take counts one more mapped file, unless there are too many.
func Take() bool {
	if taken.Add(1) <= limit() {
		return true
	}
	Give()
	return false
}

// Give counts one mapped file less.
func Give() { taken.Add(-1) }

// Taken returns how many files are mapped.
func Taken() int64 { return taken.Load() }

// Left returns how many more files may be mapped.
func Left() int64 { return max(0, limit()-taken.Load()) }

// SetLimit sets the limit for a test, and returns a function that restores it.
func SetLimit(n int64) (restore func()) {
	before := limit
	limit = func() int64 { return n }
	return func() { limit = before }
}
