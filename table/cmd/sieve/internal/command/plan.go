package command

import (
	"cmp"
	"math"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/plan"
)

const planLong = `Compare filters for N keys by memory, disk and false positives, and print the command that builds
the best. With -p, Bloom filters have the fewest bits that reach the rate. If needed, larger
data blocks are tried, to save memory.

Keys are random, unless --sample has yours or a random part of them. A 1 % sample can make
sizes 20 % wrong. ± is a 95 % interval.`

const planExamples = `  sieve plan -n 100M -p 0.1%
  sieve plan -n 10e9 -p 0.01% --key-size 64 --memory 30GB
  shuf -n 1000000 urls.txt | sieve plan -n 100M --bits 10 --sample - --input-format raw-keys`

// planMemory is the memory limit of plan. Building a fuse filter of 10 million keys takes most of it.
const planMemory memory.Limit = 480 << 20

// memoryForKeys returns the memory that plan takes for tables of n keys.
func memoryForKeys(n uint64) uint64 {
	const filters, fuse = 224, 32 // bytes per key
	return min(32<<20+filters*min(n, 1_000_000)+fuse*min(n, 10_000_000), uint64(planMemory))
}

// planFlags are the flags of plan.
type planFlags struct {
	plan.Query
	sample string
	json   bool
}

func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:         "plan [flags] {-n N | --sample FILE} (-p RATE | --bits B)",
		Short:       "Compare filters for a number of keys",
		Long:        planLong,
		Example:     planExamples,
		Annotations: cli.ExitStatus{cli.ExitUsage: "usage error, or --memory is too small for one table"}.Annotation(),
		Args:        cli.Arguments("", 0, 0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return f.plan(cmd) },
	}
	flags := cmd.Flags()
	flags.VarP(cli.Count(&f.Keys, "", cli.MaxCount), "keys", "n", "number of `keys`, up to 1e15")
	flags.VarP(cli.Parsed(&f.Rate, "value", "", plan.ParseRate), "rate", "p", "false-positive `rate`, from 1e-9")
	flags.IntVar(&f.BitsPerKey, "bits", 0, "`bits` per key, 1 to 100")
	flags.StringVar(&f.sample, "sample", "", "measure the lines of this `file`")
	cli.AddInputFormat(cmd, &f.Format, "")
	flags.Var(size(&f.KeySize, "16"), "key-size", "key `size`, up to 64KiB")
	flags.Var(size(&f.ValueSize, "0"), "value-size", "value `size`, up to 1GiB")
	flags.Float64Var(&f.Compression, "compression", 1, "`share` that remains after compression, 0.01 to 1")
	flags.Var(size(&f.BlockSize, "4KiB"), "block-size", "data block `size`, uncompressed")
	flags.Var(size(&f.TableSize, ""), "table-size", "largest table `size` (default 64MB, or 4GiB with --entries-per-table)")
	flags.Var(cli.Count(&f.EntriesPerTable, "", cli.MaxCount), "entries-per-table", "most `keys` per table (default 1M; 10M for fuse filters alone)")
	flags.Var(cli.Size(&f.Memory, "", 1, math.MaxInt64, "1 byte or more, such as 30GB"), "memory", "`size` of the memory for filters and index")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	cli.Needs(cmd, "input-format", "sample")
	cli.Exclude(cmd, "sample", "key-size", "value-size", "compression")
	cli.Exclude(cmd, "rate", "bits")
	return cmd
}

// plan prints the plan.
func (f *planFlags) plan(cmd *cobra.Command) error {
	if err := f.check(cmd.Flags().Changed); err != nil {
		return err
	}
	keys := f.Keys
	if f.sample != "" {
		keys = cli.MaxCount
	}
	if err := memory.Check("sieve plan", memoryForKeys(keys), "raise the limit"); err != nil {
		return err
	}
	defer planMemory.Apply()()
	if f.sample != "" {
		if err := f.readSample(cmd); err != nil {
			return err
		}
	}
	bar := progress.Count(cmd.ErrOrStderr(), plan.Kinds, "measuring", "kinds of filters")
	p, err := plan.New(f.Query, func() { bar.Add(1) })
	bar.Done()
	if err != nil {
		return err
	}
	if f.json {
		return printable.WriteJSON(cmd.OutOrStdout(), p)
	}
	return p.WriteText(cmd.OutOrStdout())
}

// size returns a flag value that is a size.
func size(to *uint64, text string) pflag.Value {
	return cli.Size(to, text, 0, math.MaxInt64, "a size such as 64, 4KiB or 64MB")
}

// check returns an error for missing flags, and sets defaults that depend on other flags.
func (f *planFlags) check(given func(name string) bool) error {
	switch {
	case f.Keys == 0 && f.sample == "":
		return cli.UsageErrorf("missing -n N (for example: sieve plan -n 10M -p 1%%)")
	case f.Rate == 0 && !given("bits"):
		return cli.UsageErrorf("missing -p RATE or --bits B (for example: sieve plan -n 10M -p 1%%)")
	case !given("table-size") && f.EntriesPerTable > 0:
		f.TableSize = 4 << 30
	case !given("table-size"):
		f.TableSize = 64e6
	}
	return nil
}

// readSample reads the sample. Without -n, the query is for the number of keys in its list.
func (f *planFlags) readSample(cmd *cobra.Command) error {
	options := input.Options{Format: f.Format}
	if err := options.Check([]string{f.sample}, cmd.InOrStdin()); err != nil {
		return err
	}
	r := &input.Reader{Paths: []string{f.sample}, Stdin: cmd.InOrStdin(), Stderr: cmd.ErrOrStderr(), Options: options}
	info, err := os.Stat(f.sample)
	canReadAgain := f.sample != "-" && err == nil && (info.Mode().IsRegular() || info.IsDir())
	s, err := plan.ReadSample(r.Pairs(cmd.Context()), canReadAgain, cmp.Or(f.Keys, cli.MaxCount))
	if err != nil {
		return err
	}
	f.Sample = s
	if f.Keys == 0 {
		f.Keys, f.Input = s.Keys, format.ShellPath(f.sample)
	} else { // the input may have another name
		f.Format = options.FormatOf(f.sample)
	}
	return nil
}
