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

const fprLong = `Measure the false-positive rate of LevelDB's Bloom filters from nearly empty to
overfull, and draw it beside the formula's.

A filter has the bits that -n keys want. It is given 0.1 to 1.5 times as many
keys, in 15 sizes, and asked for keys that it was not given: the share of these
that it takes for present is the rate. Each run has other keys, all of one shape:

  random       16 random bytes
  sequential   consecutive numbers, 8 bytes each, the highest byte first
  decimal      consecutive numbers of twelve digits behind "user"
  urls         URLs of 64 bytes, the same but for site, topic and page

Absent keys are of the shape too, and of sequential, decimal and urls those that
come next. The bits are LevelDB's, from this library's filter; the formula is
(1-e^(-kn/m))^k for n keys in m bits, with k = bits per key * 69/100 from 1 to
30, and the chance added that two keys have the same 32-bit hash.

Files that are written, over those that are there:

  NAME.svg   a chart for each shape: a line for each of the bits per key, with a
             band of one standard deviation, and the formula's, dashed. Rates
             of 0 have no place on its logarithmic axis and are left out.
  NAME.csv   the figures, rates from 0 to 1: shape, bits (per key), k, m (bits of
             the filter), keys, load (keys over -n), runs, mean and stddev of the
             rates, theory (the formula's)

What filters with just -n keys have is printed. The same flags give the same
bytes. The defaults take some seconds; a terminal is shown how far it is.`

const fprExamples = `  # rates.svg and rates.csv, in some seconds.
  sst fpr -o rates

  # Filters as small as those of data blocks.
  sst fpr -o small -n 35 --runs 200

  # What consecutive numbers do, down to lower rates.
  sst fpr -o decimal --shapes decimal --bits 10,20 --questions 1000000

  # A rough picture in an instant.
  sst fpr -o quick -n 1000 --runs 3 --questions 1000`

func fprCommand() *cobra.Command {
	var c fpr.Config
	var name string
	cmd := &cobra.Command{
		Use:     "fpr -o NAME",
		Short:   "Measure how often Bloom filters err as they fill, and draw it",
		Long:    fprLong,
		Example: fprExamples,
		Args:    arguments("flags alone", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return measureAndWrite(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), c, name)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&name, "output", "o", "", "write `NAME`.svg and NAME.csv")
	f.IntVarP(&c.Keys, "keys", "n", 10_000, "`keys` that filters are planned for, 10 to 1000000")
	f.IntSliceVar(&c.Bits, "bits", []int{4, 8, 10, 16}, "bits per key, up to 6 numbers from 1 to 100")
	f.StringSliceVar(&c.Shapes, "shapes", fpr.Shapes(), "shapes of keys, see above")
	f.IntVar(&c.Runs, "runs", 10, "`runs` of each measurement, 2 to 1000")
	f.IntVar(&c.Questions, "questions", 100_000, "absent `keys` asked for in each run, 100 to 1000000")
	f.Uint64Var(&c.Seed, "seed", 1, "`number` that decides which keys are drawn")
	return cmd
}

// measureAndWrite measures what c says, writes both files, and prints a summary.
func measureAndWrite(ctx context.Context, out, stderr io.Writer, c fpr.Config, name string) error {
	if name == "" {
		return errors.New("-o is not given, want a name for NAME.svg and NAME.csv")
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
