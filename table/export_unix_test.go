//go:build unix

package table

import (
	"testing"

	"github.com/sievetable/sievetable/internal/mappings"
)

// SetMaxMappings sets how many files may be mapped, until the test ends. It must not be parallel.
func SetMaxMappings(t testing.TB, n int64) { t.Cleanup(mappings.SetLimit(n)) }

// Mappings returns how many files are mapped.
func Mappings() int64 { return mappings.Taken() }
