// Package alloc checks whether a large allocation would succeed. If the system refuses memory to Go's runtime, the
// process ends and cannot recover.
package alloc

import (
	"fmt"
	"runtime/debug"
)

// arena is the unit in which the runtime requests memory from the system. Smaller amounts may be available already.
const arena = 64 << 20

// An Error means that memory cannot be allocated.
type Error struct {
	Needed uint64 // bytes
	Limit  uint64 // the memory limit of Go's runtime, in bytes, or 0 if the system refused the memory
	Err    error  // the system's error, or nil
}

// Error says how many bytes are needed, and why they cannot be allocated.
func (e *Error) Error() string {
	if e.Limit > 0 {
		return fmt.Sprintf("needs %d bytes of memory, the memory limit of Go's runtime is %d bytes", e.Needed, e.Limit)
	}
	return fmt.Sprintf("needs %d bytes of memory: %v", e.Needed, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Check returns an [*Error] if bytes exceeds the memory limit of Go's runtime, or if the system refuses the memory
// now: because of the address space, RLIMIT_AS, or the machine's memory. A system that overcommits, or a container's
// limit, can still end the process when the memory is used.
func Check(bytes uint64) error {
	if limit := uint64(debug.SetMemoryLimit(-1)); bytes > limit {
		return &Error{Needed: bytes, Limit: limit}
	}
	if bytes < arena {
		return nil
	}
	heap := (bytes + arena - 1) / arena * arena
	overhead := heap / 64 // the runtime's own data about the heap, with a margin
	if err := reserve(heap + overhead); err != nil {
		return &Error{Needed: bytes, Err: err}
	}
	return nil
}

// CheckLarge is like Check, for frequent allocations: below 64 MiB it makes no system call.
func CheckLarge(bytes uint64) error {
	if bytes < arena {
		return nil
	}
	return Check(bytes)
}
