//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// allTerminatingSignals are the signals that end a program.
var allTerminatingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
