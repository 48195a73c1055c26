//go:build !unix

package set

// defaultOpenFiles returns a number that these systems allow.
func defaultOpenFiles() int { return 4096 }
