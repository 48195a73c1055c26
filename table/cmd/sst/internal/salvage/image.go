package salvage

import (
	"cmp"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/codecs"
)

// A fileImage is a file in memory.
type fileImage struct {
	data     []byte
	maxBlock int // the largest size of a block, stored or decoded; 0: MaxBlock
}

func readImage(f *dbfile.File) (fileImage, error) {
	data := make([]byte, f.Size)
	if _, err := io.ReadFull(io.NewSectionReader(f.Src, 0, f.Size), data); err != nil {
		return fileImage{}, fmt.Errorf("%s: %w", f.Path, err)
	}
	return fileImage{data, f.Options.MaxBlockSize}, nil
}

// decode decompresses a block.
func (f fileImage) decode(e extent) ([]byte, error) {
	stored, id, limit := f.data[e.start:e.end:e.end], f.data[e.end], cmp.Or(f.maxBlock, MaxBlock)
	if id == table.NoCompression.ID() && len(stored) > limit {
		return nil, &codecs.TooLargeError{Size: len(stored), Limit: limit}
	}
	if id == table.NoCompression.ID() {
		return stored, nil
	}
	for _, c := range codecs.All() {
		if c.ID() == id {
			return c.Decode(nil, stored, limit)
		}
	}
	return nil, fmt.Errorf("compression id %d, want one that sst knows", id)
}

// open opens a block.
func (f fileImage) open(e extent) (*encoded.Iter, error) {
	contents, err := f.decode(e)
	if err != nil {
		return nil, err
	}
	return dbfile.OpenBlock(contents, table.AnyOrder)
}
