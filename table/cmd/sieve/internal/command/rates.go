package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/plan"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/rates"
)

const ratesLong = `Measure false-positive rates of filters as they fill up, from 0.1 to 1.5 times -n keys, and draw
them beside the formula. NAME.svg has a panel per policy and number of bits, NAME.csv the figures
and Wilson's 95 % intervals.

Policies  bloom (LevelDB), table-bloom (RocksDB), fuse, independent (a hash function per bit)
Shapes    random (16 bytes), sequential (8 bytes, big-endian), decimal ("user" and 12 digits), urls
          (64 bytes), emails (20 to 45 bytes); absent keys are the next ones

--keys-from needs 3 times as many keys as -n, or 2 times with --k, in at most 256 MiB. sieve
rates takes up to 1.2 GB of memory.`

const ratesExamples = `  sieve rates -o rates
  sieve rates -o own --keys-from keys.txt -p 1%
  sieve rates -o kinds --policy bloom,fuse`

// ratesMemory is the memory limit of rates. Runs and the keys of --keys-from take less.
const ratesMemory memory.Limit = 1 << 30

// ratesFlags are the flags of rates.
type ratesFlags struct {
	rates.Config
	cli.KeyFlags
	name     string
	ownLines int // number of keys in --keys-from, with duplicates
}

func ratesCommand() *cobra.Command {
	var f ratesFlags
	cmd := &cobra.Command{
		Use:         "rates [flags] -o NAME",
		Short:       "Measure false-positive rates of filters",
		Long:        ratesLong,
		Example:     ratesExamples,
		Annotations: cli.ExitStatus{}.Annotation(),
		Args:        cli.Arguments("", 0, 0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.name, "output", "o", "", "write `NAME`.svg and NAME.csv (required)")
	flags.VarP(cli.Count(&f.Keys, "10_000", rates.MaxKeys), "keys", "n", "size filters for this many `keys`, up to 1M")
	flags.StringSliceVar(&f.Policies, "policy", []string{"bloom"}, "kinds of filters")
	flags.IntSliceVar(&f.Bits, "bits", []int{4, 8, 10, 16}, "bits per key, 1 to 100, up to 6 numbers")
	flags.VarP(cli.Parsed(&f.Rate, "value", "", plan.ParseRate), "rate", "p", "choose the bits for this `rate`")
	flags.Var(cli.Parsed(&f.K, "value", "", rates.ParseSweep), "k", "compare k of `FROM-TO`, 1 to 30, at -n keys")
	flags.StringSliceVar(&f.Shapes, "shapes", rates.Shapes(), "shapes of keys")
	cmd.MarkFlagsMutuallyExclusive("rate", "bits")
	cli.Complete(cmd, "policy", rates.Policies()...)
	cli.Complete(cmd, "shapes", rates.Shapes()...)
	f.KeyFlags.Add(cmd, "measure", "raw-keys")
	cli.Needs(cmd, "input-format", "keys-from")
	cli.CountVar(flags, &f.Runs, "runs", "", 10, "number of `runs`, 2 to 1000")
	cli.CountVar(flags, &f.Lookups, "lookups", "", 100_000, "absent `keys` per run, 100 to 1M")
	cli.CountVar(flags, &f.Width, "width", "", 0, "chart width in `pixels`, 340 to 4000")
	flags.Uint64Var(&f.Seed, "seed", 1, "random `seed`")
	return cmd
}

// run measures the rates, writes both files, and prints a summary.
func (f *ratesFlags) run(cmd *cobra.Command) error {
	defer ratesMemory.Apply()()
	if err := f.complete(cmd); err != nil {
		return err
	}
	if err := memory.Check("sieve rates", f.TrialMemory(), "use a smaller -n or --lookups, or raise the limit"); err != nil {
		return err
	}
	for _, name := range []string{f.name + ".svg", f.name + ".csv"} {
		if err := output.Check(name); err != nil {
			return err
		}
	}
	if f.Own != nil {
		text.Note(cmd.ErrOrStderr(), "%s, %s distinct: %s", text.Count(uint64(f.ownLines), "key"), figures.Grouped(len(f.Own)), f.OwnLookups())
	}
	bar := progress.Count(cmd.ErrOrStderr(), int64(f.Trials()), "measuring", "runs")
	points, err := rates.Measure(f.Config, func() { bar.Add(1) })
	bar.Done()
	if err != nil {
		return err
	}
	write := func(ctx context.Context) error { return writeRates(ctx, f.Config, points, f.name) }
	if err := cli.Interruptible(cmd.Context(), write); err != nil {
		return err
	}
	return rates.WriteSummary(cmd.OutOrStdout(), f.Config, points)
}

// complete checks the flags, and reads the keys of --keys-from. Without -n, it sizes filters for the number of
// these keys.
func (f *ratesFlags) complete(cmd *cobra.Command) (err error) {
	if ext := filepath.Ext(f.name); ext == ".svg" || ext == ".csv" {
		f.name = strings.TrimSuffix(f.name, ext)
	}
	switch given := cmd.Flags().Changed; {
	case f.name == "":
		return cli.UsageErrorf("missing -o NAME (for NAME.svg and NAME.csv)")
	case f.name == "-":
		return cli.UsageErrorf("-o is -, but two files are written: use -o NAME, for NAME.svg and NAME.csv")
	case filepath.Base(f.name) == "." || filepath.Base(f.name) == ".." || os.IsPathSeparator(f.name[len(f.name)-1]):
		return cli.UsageErrorf("-o is %s, a directory: use -o NAME, for NAME.svg and NAME.csv", f.name)
	case f.From != "":
		outputs := output.FilesOf(cmd.OutOrStdout(), f.name+".svg", f.name+".csv")
		if f.Own, f.ownLines, err = rates.OwnLimit.Distinct(f.Lines(nil, cmd, outputs)); err != nil {
			return err
		}
		if !given("shapes") {
			f.Shapes = nil
		}
		if !given("keys") {
			f.Keys = min(f.Keys, f.OwnSize())
		}
	}
	return f.Validate()
}

// writeRates writes both files, or neither.
func writeRates(ctx context.Context, c rates.Config, points []rates.Point, name string) error {
	chart, err := output.Create(ctx, name+".svg", nil)
	if err != nil {
		return err
	}
	defer chart.Abort() // does nothing after Commit
	figures, err := output.Create(ctx, name+".csv", nil)
	if err != nil {
		return err
	}
	defer figures.Abort()
	if err := errors.Join(rates.WriteSVG(chart, c, points), rates.WriteCSV(figures, points)); err != nil {
		return err
	}
	return output.Commit(chart, figures)
}
