package filter_test

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/filtertest"
)

var noError = errtest.NoError

// openTable opens a filter of TableBloom.
func openTable(t testing.TB, contents []byte) filtertest.ManyFilter {
	t.Helper()
	f, err := filter.NewTableBloom(0).Open(contents)
	noError(t, err)
	return f.(filtertest.ManyFilter)
}

// newReader opens a filter block.
func newReader(t testing.TB, block []byte, p filter.Policy) *filter.BlockReader {
	t.Helper()
	b, err := filter.NewBlockReader(block, p)
	noError(t, err)
	return b
}

func newDynamicBloom(t testing.TB, keys uint64, bitsPerKey int) *filter.DynamicBloom {
	t.Helper()
	f, err := filter.NewDynamicBloom(keys, bitsPerKey)
	noError(t, err)
	return f
}

func newCountingBloom(t testing.TB, keys uint64, bitsPerKey int) *filter.CountingBloom {
	t.Helper()
	f, err := filter.NewCountingBloom(keys, bitsPerKey)
	noError(t, err)
	return f
}
