//go:build !unix

package set

// defaultMaxOpenFiles returns a number that these systems allow.
func defaultMaxOpenFiles() int { return 4096 }
