package command

import (
	"fmt"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/merge"
)

// limitedOptions returns the options of a Writer within the limit.
func (f *writerFlags) limitedOptions(internal bool, order table.Comparer, limit memory.Limit) (*table.WriterOptions, error) {
	o, err := f.options(internal, order)
	if err != nil {
		return nil, err
	}
	return o, limitWriter(limit, o)
}

// limitWriter checks the block size against the limit, and reduces the concurrency to what
// the limit allows.
func limitWriter(limit memory.Limit, o *table.WriterOptions) error {
	if err := limit.CheckPair(int64(o.BlockSize)); err != nil {
		return fmt.Errorf("--block-size is %w", err)
	}
	o.Concurrency = min(o.Concurrency, limit.MaxWorkers(o.BlockSize))
	return nil
}

// sortOptions returns how to sort the pairs of a table.
func sortOptions(o *table.WriterOptions, limit memory.Limit, dir string) *merge.SorterOptions {
	return &merge.SorterOptions{Comparer: o.Comparer, Memory: limit.SortMemory(), Dir: dir}
}
