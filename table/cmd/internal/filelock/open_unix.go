//go:build unix

package filelock

import "syscall"

// openFlags open a file without following a link, and without waiting for a pipe, if one has come since the check.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY
