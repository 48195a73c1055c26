//go:build unix

package regular

import "syscall"

// withoutWaiting has a pipe opened that nobody writes to, and a terminal that does not
// become the process's.
const withoutWaiting = syscall.O_NONBLOCK | syscall.O_NOCTTY
