package cli

import (
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
)

// MemoryFlags are the flags of commands that limit their memory.
type MemoryFlags struct {
	memory string
	given  func() bool
}

// Add adds the flag.
func (f *MemoryFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.memory, "memory", "1GiB", "memory limit, at least 32MiB")
	f.given = func() bool { return cmd.Flags().Changed("memory") }
}

// Limit returns the limit.
func (f *MemoryFlags) Limit() (memory.Limit, error) {
	if !f.given() {
		return memory.Usual()
	}
	const want = "a size of at least 32MiB, such as 1GiB"
	n, err := ParseSize("--memory", f.memory, want)
	if err == nil && memory.Limit(n) < memory.MinLimit {
		err = UsageErrorf("--memory is %s, want %s", wire.Quote([]byte(f.memory)), want)
	}
	if err != nil {
		return 0, err
	}
	return memory.Limit(n), memory.Limit(n).Check()
}
