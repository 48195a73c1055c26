//go:build unix

package main

import (
	"os"
	"syscall"
)

// allTerminatingSignals are the signals that end a Go program, but for SIGKILL. A fault of the program
// itself is a panic all the same, and not one of these.
var allTerminatingSignals = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS,
	syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGPIPE, syscall.SIGTERM,
}
