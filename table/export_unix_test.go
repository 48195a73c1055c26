//go:build unix

package table

import "testing"

// SetMaxMappings sets how many files may be mapped, until the test ends. It must not be parallel.
func SetMaxMappings(t testing.TB, n int64) {
	before := mappings.limit
	mappings.limit = func() int64 { return n }
	t.Cleanup(func() { mappings.limit = before })
}

// Mappings returns how many files are mapped.
func Mappings() int64 { return mappings.n.Load() }
