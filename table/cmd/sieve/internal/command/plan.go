package command

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/plan"
)

// planMemory is the memory that plan keeps to. Building a fuse filter of 10 million keys takes
// most of it.
const planMemory memory.Limit = 480 << 20

// memoryForKeys returns how much plan takes for tables of so many keys.
func memoryForKeys(n uint64) uint64 {
	const (
		filters = 224 // of 1 million keys at most
		fuse    = 32  // of a fuse filter
	)
	return min(32<<20+filters*min(n, 1_000_000)+fuse*min(n, 10_000_000), uint64(planMemory))
}

// planFlags are the flags of plan as they are typed.
type planFlags struct {
	keys, rate                                       string
	bits                                             int
	bitsGiven                                        bool
	sample, format                                   string
	keySize, valueSize, blockSize, tableSize, memory string
	compression                                      float64
	entriesPerTable                                  string
	json                                             bool
}

func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:         "plan [flags] {-n N | --sample FILE} (-p RATE | --bits B)",
		Short:       "Compare filters for a number of keys",
		Long:        planLong,
		Example:     planExamples,
		Annotations: cli.ExitStatus{cli.ExitUsage: "usage error, or --memory is too small for a table"}.Annotation(),
		Args:        cli.Arguments("flags only", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.bitsGiven = cmd.Flags().Changed("bits")
			return f.plan(cmd)
		},
	}
	f.define(cmd)
	return cmd
}

// define adds the flags to the command.
func (f *planFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.keys, "keys", "n", "", "number of `keys`, 1 to 1e15 (required without --sample)")
	flags.StringVarP(&f.rate, "rate", "p", "", "false-positive `rate`, ≥ 1e-9 and < 1")
	flags.IntVar(&f.bits, "bits", 0, "`bits` per key, 1 to 100, instead of a rate")
	flags.StringVar(&f.sample, "sample", "", "plan for keys and values like those in this `file`")
	flags.StringVar(&f.format, "input-format", "", "lines of --sample: "+input.Formats)
	cli.Complete(cmd, "input-format", input.FormatNames...)
	flags.StringVar(&f.keySize, "key-size", "16", "`size` of a key, up to 64KiB")
	flags.StringVar(&f.valueSize, "value-size", "0", "`size` of a value, up to 1GiB")
	flags.Float64Var(&f.compression, "compression", 1, "compressed size of data blocks as a `share`, 0.01 to 1")
	flags.StringVar(&f.blockSize, "block-size", "4KiB", "`size` of a data block before compression")
	flags.StringVar(&f.tableSize, "table-size", "", "largest `size` of a table (default 64MB or 4GiB)")
	flags.StringVar(&f.entriesPerTable, "entries-per-table", "", "most `keys` of a table (default 1M, if it has values)")
	flags.StringVar(&f.memory, "memory", "", "`size` of a machine's memory for filters and index")
	flags.BoolVar(&f.json, "json", false, "print a JSON object")
	cli.Needs(cmd, "input-format", "sample")
	cli.Exclude(cmd, "sample", "key-size", "value-size", "compression")
}

// plan prints the plan.
func (f *planFlags) plan(cmd *cobra.Command) error {
	q, err := f.query()
	if err != nil {
		return err
	}
	keys := q.Keys
	if f.sample != "" {
		keys = cli.MaxCount
	}
	if err := memory.Check("sieve plan", memoryForKeys(keys), "raise the limit"); err != nil {
		return err
	}
	defer planMemory.Apply()()
	if f.sample != "" {
		if err := f.readSample(cmd, &q); err != nil {
			return err
		}
	}
	bar := progress.Count(cmd.ErrOrStderr(), plan.Kinds, "measuring", "kinds of filters")
	p, err := plan.New(q, func() { bar.Add(1) })
	bar.Done()
	if err != nil {
		return err
	}
	if f.json {
		return p.WriteJSON(cmd.OutOrStdout())
	}
	return p.WriteText(cmd.OutOrStdout())
}

// query parses the flags.
func (f *planFlags) query() (q plan.Query, err error) {
	q.BitsPerKey, q.Compression = f.bits, f.compression
	if f.keys == "" && f.sample == "" {
		return q, cli.UsageErrorf("-n is not given, want a number of keys, such as in: sieve plan -n 10M -p 1%%")
	}
	if f.keys != "" {
		if q.Keys, err = cli.ParseCount("-n", f.keys, cli.MaxCount); err != nil {
			return q, err
		}
	}
	switch {
	case f.rate == "" && !f.bitsGiven:
		return q, cli.UsageErrorf("neither -p nor --bits is given, want a rate or bits per key, such as in: sieve plan -n %s -p 1%%", f.keys)
	case f.bitsGiven && f.bits == 0:
		return q, cli.UsageErrorf("--bits is 0, want 1 or more")
	}
	if f.rate != "" {
		if q.Rate, err = plan.ParseRate(f.rate); err != nil {
			return q, err
		}
	}
	return q, f.setTables(&q)
}

// setTables parses the flags that say how large things are.
func (f *planFlags) setTables(q *plan.Query) (err error) {
	usualSize := "64MB"
	if f.entriesPerTable != "" {
		usualSize = "4GiB"
		if q.EntriesPerTable, err = cli.ParseCount("--entries-per-table", f.entriesPerTable, cli.MaxCount); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		flag, text string
		value      *uint64
	}{
		{"--key-size", f.keySize, &q.KeySize},
		{"--value-size", f.valueSize, &q.ValueSize},
		{"--block-size", f.blockSize, &q.BlockSize},
		{"--table-size", cmp.Or(f.tableSize, usualSize), &q.TableSize},
		{"--memory", f.memory, &q.Memory},
	} {
		if s.text == "" {
			continue
		}
		size, err := cli.ParseSize(s.flag, s.text, "a size such as 64, 4KiB or 64MB")
		if err != nil {
			return err
		}
		*s.value = uint64(size)
	}
	if f.memory != "" && q.Memory == 0 {
		return cli.UsageErrorf("--memory is %s, want 1 byte or more", wire.Quote([]byte(f.memory)))
	}
	return nil
}
