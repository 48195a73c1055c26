//go:build unix

package regular

import "syscall"

// nonblocking opens a pipe without waiting for a writer, and a terminal without making it the
// controlling terminal of the process.
const nonblocking = syscall.O_NONBLOCK | syscall.O_NOCTTY
