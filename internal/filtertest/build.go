package filtertest

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
)

// Build returns the filter of the keys.
func Build[K ~string | ~[]byte](p filter.Policy, keys ...K) []byte {
	g := p.NewGenerator()
	for _, key := range keys {
		g.Add([]byte(key))
	}
	var f filter.Bytes
	g.Generate(&f)
	return f
}

// BuildTable returns the table filter of the keys.
func BuildTable[K ~string | ~[]byte](t testing.TB, p filter.TablePolicy, keys ...K) []byte {
	t.Helper()
	g := p.NewTableGenerator()
	for _, key := range keys {
		g.Add([]byte(key))
	}
	f, err := g.Generate()
	errtest.NoError(t, err)
	return f
}
