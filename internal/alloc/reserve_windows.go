package alloc

import (
	"math"
	"syscall"
)

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	virtualAlloc = kernel32.NewProc("VirtualAlloc")
	virtualFree  = kernel32.NewProc("VirtualFree")
)

// reserve requests memory from the system as the runtime does, and releases it unused.
func reserve(bytes uint64) error {
	const (
		memCommit, memReserve, memRelease = 0x1000, 0x2000, 0x8000
		pageReadWrite                     = 4
	)
	if bytes > math.MaxInt {
		return syscall.Errno(8) // ERROR_NOT_ENOUGH_MEMORY
	}
	memory, _, err := virtualAlloc.Call(0, uintptr(bytes), memReserve|memCommit, pageReadWrite)
	if memory == 0 {
		return err
	}
	if ok, _, err := virtualFree.Call(memory, 0, memRelease); ok == 0 {
		return err
	}
	return nil
}
