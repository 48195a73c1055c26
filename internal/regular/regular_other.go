//go:build !unix

package regular

const nonblocking = 0 // these systems have no pipes in the file system

// MaxOpenFiles returns a number that these systems allow.
func MaxOpenFiles() int { return 4096 }
