package salvage

import (
	"cmp"
	"fmt"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// image is a file in memory.
type image struct {
	data     []byte
	maxBlock int // the most bytes that a block is decoded to; 0: maxBlock
}

// decode decompresses a block.
func (f image) decode(e extent) ([]byte, error) {
	stored := f.data[e.start:e.end:e.end]
	if e.id == table.NoCompression.ID() {
		return stored, nil
	}
	for _, c := range append(codecs.All(), table.Snappy) {
		if c.ID() == e.id {
			return c.Decode(nil, stored, cmp.Or(f.maxBlock, maxBlock))
		}
	}
	return nil, fmt.Errorf("compression id %d, for which there is no codec", e.id)
}

// open opens a block that was found.
func (f image) open(e extent) (*block.Iter, error) {
	contents, err := f.decode(e)
	if err != nil {
		return nil, err
	}
	return source.OpenBlock(contents, source.AnyOrder)
}
