//go:build !unix

package regular

const nonblocking = 0 // these systems have no pipes in the file system
