//go:build !linux

package versions

// LockHolder returns 0, because these systems do not list locks.
func LockHolder(string) (pid int) { return 0 }
