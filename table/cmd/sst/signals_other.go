//go:build !unix

package main

import (
	"os"
	"syscall"
)

// ending are the signals that end a program.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM}
