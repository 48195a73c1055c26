package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
)

// memoryFlags are the flags of commands that limit their memory.
type memoryFlags struct {
	memory string
	given  func() bool
}

func (f *memoryFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.memory, "memory", "1GiB", "memory limit, at least 32MiB")
	f.given = func() bool { return cmd.Flags().Changed("memory") }
}

func (f *memoryFlags) limit() (memory.Limit, error) {
	if !f.given() {
		return memory.Usual()
	}
	const want = "a size of at least 32MiB, such as 1GiB"
	n, err := cli.ParseSize("--memory", f.memory, want)
	if err == nil && memory.Limit(n) < memory.MinLimit {
		err = cli.UsageErrorf("--memory is %s, want %s", wire.Quote([]byte(f.memory)), want)
	}
	if err != nil {
		return 0, err
	}
	return memory.Limit(n), memory.Limit(n).Check()
}

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
func sortOptions(o *table.WriterOptions, limit memory.Limit, dir string) sorting.Options {
	order := encoded.Order(table.BlockOrder(o.Comparer))
	return sorting.Options{
		Compare: o.Comparer.Compare, SuffixLen: order.Suffix, NotBytewise: !order.Bytewise(),
		Memory: limit.SortMemory(), Dir: dir,
	}
}
