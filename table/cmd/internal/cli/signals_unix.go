//go:build unix

package cli

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// allTerminatingSignals are the signals that end a Go program, except SIGKILL. A fault in the program itself is
// still a panic.
var allTerminatingSignals = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS,
	syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGPIPE, syscall.SIGTERM,
	unix.SignalNum("SIGSTKFLT"), // 0 where there is none
}
