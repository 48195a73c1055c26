package command

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/codecs"
)

// checkMemory returns an error if a larger --memory would be enough for the file, its index
// or one of its decoded blocks.
func checkMemory(file *dbfile.File, limit memory.Limit) error {
	if file.Layout == nil {
		return checkMemoryWithoutIndex(file, limit)
	}
	size, at := int64(0), uint64(0)
	for _, part := range file.Layout.Data {
		_, _, err := file.Layout.ReadBlock(part.Handle)
		if n := memoryForBlock(int64(part.Length), err); n > size {
			size, at = n, part.Offset
		}
	}
	if err := limit.CheckPair(size); err != nil {
		return fmt.Errorf("data block at %d: %w", at, err)
	}
	return nil
}

// checkMemoryWithoutIndex is checkMemory for a file whose index cannot be read.
func checkMemoryWithoutIndex(file *dbfile.File, limit memory.Limit) error {
	var c *table.CorruptionError
	if errors.As(file.Damage, &c) && c.Block == table.IndexBlock {
		if err := limit.CheckPair(memoryForBlock(c.Length, c.Err)); err != nil {
			return fmt.Errorf("its index: %w", err)
		}
	}
	if err := limit.CheckFile(file.Size); err != nil {
		return fmt.Errorf("its index cannot be read: %w", err)
	}
	return nil
}

// memoryForBlock returns how much memory a block of this length takes, of which err is the
// read error. It is 0 if no memory is enough.
func memoryForBlock(length int64, err error) int64 {
	var tooLarge *codecs.TooLargeError
	if errors.As(err, &tooLarge) {
		return int64(tooLarge.Size)
	}
	if length > salvage.MaxBlock {
		return 0
	}
	return length
}
