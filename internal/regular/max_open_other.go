//go:build !unix

package regular

// MaxOpenFiles returns a number that these systems allow.
func MaxOpenFiles() int { return 4096 }
