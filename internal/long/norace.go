//go:build !race

package long

// Race reports whether the race detector is on. It makes everything ten times slower, and allocates.
const Race = false
