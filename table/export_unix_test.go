//go:build unix

package table

import (
	"testing"

	"github.com/sievetable/sievetable/internal/mappings"
)

// SetMaxMappings sets the maximum number of mapped files until the test ends. The test must not be parallel.
func SetMaxMappings(t testing.TB, n int64) { t.Cleanup(mappings.SetLimit(n)) }

// Mappings returns the number of mapped files.
func Mappings() int64 { return mappings.Taken() }
