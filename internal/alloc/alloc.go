// Package alloc finds out whether large memory can be had before it is allocated. If the system refuses
// memory to Go's runtime, the process ends, and nothing can recover.
package alloc

import (
	"fmt"
	"runtime/debug"
)

// arena is the amount in which the runtime takes memory from the system. Less than that may be there
// already.
const arena = 64 << 20

// An Error says that memory cannot be had.
type Error struct {
	Needed uint64 // bytes
	Limit  uint64 // the memory limit of Go's runtime, in bytes, or 0 if the system refused the memory
	Err    error  // the system's, or nil
}

// Error names the bytes that are needed, and why they cannot be had.
func (e *Error) Error() string {
	if e.Limit > 0 {
		return fmt.Sprintf("needs %d bytes of memory, the memory limit of Go's runtime is %d bytes", e.Needed, e.Limit)
	}
	return fmt.Sprintf("needs %d bytes of memory: %v", e.Needed, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Check returns an [*Error] if so many bytes are more than the memory limit of Go's runtime, or if the
// system does not grant them now: for lack of address space, by RLIMIT_AS, or as they are more than the
// machine has. A system that grants more than it has, or a container's limit, can still end the
// process when the memory is used.
func Check(bytes uint64) error {
	if limit := uint64(debug.SetMemoryLimit(-1)); bytes > limit {
		return &Error{Needed: bytes, Limit: limit}
	}
	if bytes < arena {
		return nil
	}
	heap := (bytes + arena - 1) / arena * arena
	overhead := heap / 64 // what the runtime notes about the heap, in memory of its own, and more
	if err := reserve(heap + overhead); err != nil {
		return &Error{Needed: bytes, Err: err}
	}
	return nil
}

// CheckLarge is Check for memory that is taken often: it grants less than 64 MiB without a system call.
func CheckLarge(bytes uint64) error {
	if bytes < arena {
		return nil
	}
	return Check(bytes)
}
