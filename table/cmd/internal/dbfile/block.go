package dbfile

import (
	"math"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
)

// OpenBlock returns an Iter on the contents of a block, which it keeps. A key is never
// longer than its block, so the memory budget grows with the block.
func OpenBlock(contents []byte, order table.Comparer) (*encoded.Iter, error) {
	it, budget := new(encoded.Iter), encoded.Budget{Memory: int(min(1<<20+4*int64(len(contents)), math.MaxInt)), Compared: 1<<20 + 1024*int64(len(contents))}
	if err := it.Open(contents, encoded.Order(table.BlockOrder(order)), &budget); err != nil {
		return nil, err
	}
	return it, nil
}

// NumRestarts returns the number of restart points of a block that OpenBlock has opened.
func NumRestarts(contents []byte) int {
	parts, err := format.SplitBlock(contents)
	if err != nil {
		return 0 // it was not opened
	}
	return parts.NumRestarts()
}
