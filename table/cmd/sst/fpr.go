package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/fpr"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
)

const fprLong = `Measure the false-positive rate of LevelDB's Bloom filters, from nearly empty to overfull,
and draw it beside the rate that the formula predicts.

The number of bits in a filter is that for -n keys. The filter then gets 0.1 to 1.5 times
as many keys, in 15 steps. At each step it is queried for keys that were not added. The
rate is the share of these keys for which it answers "may contain". Each run uses
different keys. All keys of a run have one shape:

  random       16 random bytes
  sequential   consecutive numbers, as 8 bytes, big-endian
  decimal      "user" and consecutive numbers of twelve digits
  urls         URLs of 64 bytes that differ in site, topic and page

Absent keys have the same shape. For sequential, decimal and urls they are the keys that
come next. The filters are this library's, with the same bits as LevelDB's. The formula
is (1-e^(-kn/m))^k for n keys in m bits. k is bits per key * 69/100, but at least 1 and at
most 30. To this the formula adds the chance that two keys have the same 32-bit hash.

sst fpr writes two files. It replaces existing ones.

  NAME.svg   a chart for each shape. Each number of bits per key has a line, a band of
             one standard deviation, and the formula's rate as a dashed line. The axis
             is logarithmic, so rates of 0 are left out.
  NAME.csv   the figures, with rates from 0 to 1. The columns are shape, bits (per key),
             k, m (bits of the filter), keys, load (keys divided by -n), runs, mean and
             stddev of the rates, and theory (the formula's rate).

sst fpr prints the rates of filters with exactly -n keys. The same flags give the same
bytes. The defaults take a few seconds. On a terminal it shows its progress.`

const fprExamples = `  # Write rates.svg and rates.csv, in a few seconds.
  sst fpr -o rates

  # Filters as small as those of data blocks.
  sst fpr -o small -n 35 --runs 200

  # Consecutive numbers, measured down to lower rates.
  sst fpr -o decimal --shapes decimal --bits 10,20 --questions 1000000

  # A rough chart, at once.
  sst fpr -o quick -n 1000 --runs 3 --questions 1000`

func fprCommand() *cobra.Command {
	var c fpr.Config
	var name string
	cmd := &cobra.Command{
		Use:     "fpr -o NAME",
		Short:   "Measure the false-positive rate of Bloom filters as they fill up",
		Long:    fprLong,
		Example: fprExamples,
		Args:    arguments("flags only", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return measureAndWrite(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), c, name)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&name, "output", "o", "", "write `NAME`.svg and NAME.csv (required)")
	f.IntVarP(&c.Keys, "keys", "n", 10_000, "number of `keys` that filters are sized for, 10 to 1000000")
	f.IntSliceVar(&c.Bits, "bits", []int{4, 8, 10, 16}, "bits per key: up to 6 numbers, each 1 to 100")
	f.StringSliceVar(&c.Shapes, "shapes", fpr.Shapes(), "shapes of keys: see above")
	f.IntVar(&c.Runs, "runs", 10, "number of `runs` of each measurement, 2 to 1000")
	f.IntVar(&c.Questions, "questions", 100_000, "number of absent `keys` looked up in each run, 100 to 1000000")
	f.Uint64Var(&c.Seed, "seed", 1, "`seed` of the random keys")
	return cmd
}

// measureAndWrite measures the rates, writes both files, and prints a summary.
func measureAndWrite(ctx context.Context, out, stderr io.Writer, c fpr.Config, name string) error {
	if name == "" {
		return errors.New("-o is not given, want the NAME of NAME.svg and NAME.csv")
	}
	if err := c.Validate(); err != nil {
		return err
	}
	bar := progress.Count(stderr, int64(c.Trials()), "measuring", "runs")
	points, err := fpr.Measure(c, func() { bar.Add(1) })
	bar.Done()
	if err != nil {
		return err
	}
	if err := interruptible(ctx, func(ctx context.Context) error { return writeRates(ctx, c, points, name) }); err != nil {
		return err
	}
	return fpr.WriteSummary(out, points)
}

// writeRates writes both files, or none.
func writeRates(ctx context.Context, c fpr.Config, points []fpr.Point, name string) error {
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
	if err := errors.Join(fpr.WriteSVG(chart, c, points), fpr.WriteCSV(figures, points)); err != nil {
		return err
	}
	return output.Commit(chart, figures)
}
