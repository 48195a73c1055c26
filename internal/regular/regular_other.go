//go:build !unix

package regular

const nonblocking = 0 // these systems have no pipes in the file system

// MaxOpenFiles returns a number of open files that these systems allow.
func MaxOpenFiles() int { return 4096 }
