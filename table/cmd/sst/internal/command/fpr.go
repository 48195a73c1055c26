package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/fpr"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/plan"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

const fprLong = `Measure the false-positive rate of filters, from nearly empty to overfull, and draw it
beside the rate of a formula.

The size of a filter is that for -n keys. The filter then gets 0.1 to 1.5 times as many
keys, in 15 steps, or fewer if there are too few keys for so many. At each step it is queried
for keys that were not added. The rate is the share of these keys for which it answers "may
contain". Each run uses different keys. All keys of a run have one shape:

  random       16 random bytes
  sequential   consecutive numbers, as 8 bytes, big-endian
  decimal      "user" and consecutive numbers of twelve digits
  urls         URLs of 64 bytes that differ in site, topic and page
  emails       e-mail addresses of 20 to 45 bytes

Absent keys have the same shape. For sequential, decimal, urls and emails they are the keys
that come next.

--keys-from measures your own keys, without the shapes above unless --shapes is given too. A
line is a key, with the same escapes as in sst get or, with --hex, in hexadecimal. Duplicates
are removed. Each run shuffles the keys, adds 1.5 times -n of them, and asks for others:
--questions of them, or all if there are fewer. So no key that is asked for was added, and
there must be 3 times -n distinct keys. The default of -n is a third of the keys, at most
10000. All keys are kept in memory: at most 3,000,000 distinct keys, and 256 MiB of them.

Runs are made at the same time, as many as there are processors, but fewer if they need much
memory. sst fpr takes at most 1.2 GB.

--policy says which filters are measured. Several have a column of the chart each.

  bloom        LevelDB's Bloom filter, as in a filter block. Its formula is
               (1-e^(-kn/m))^k for n keys in m bits. k is bits per key * 69/100, but at
               least 1 and at most 30. To this the formula adds the chance that two keys
               have the same 32-bit hash. With 100,000 keys or more, filters have higher
               rates than that: see filter.PredictRate in the library.
  table-bloom  RocksDB's Bloom filter of a whole table, which has the bits of a key in one
               line of 64 bytes. Here k is at most 6. Its formula adds up those of lines
               with few and with many keys.

  fuse         a binary fuse filter of a whole table, as Pebble's. --bits are those of its
               fingerprints: 4, 8, 10, 12, 14 or 16. It is built again for each number of keys,
               so it is never overfull, and its formula is 2^-bits for all of them.
  independent  the Bloom filter of textbooks, of the size and k of LevelDB's, for comparison.
               Each bit of a key comes from a hash function of its own: xxh3 of 64 bits, with
               the seeds 0 to k-1. So it meets its formula, (1-e^(-kn/m))^k, for keys of any
               shape. LevelDB derives all bits from one hash of 32 bits. No table can have such
               a filter.

--k 1-16 measures filters with exactly -n keys for each k from 1 to 16, in place of filters that
fill up. k is how many bits each key sets. The size of the filters stays the same, so the chart
shows which k is the best one, by measurement and by the formula. An upright line is at the k
that the policy has otherwise. Fuse filters have no k to choose. With --keys-from, there must
be 2 times -n distinct keys.

-p plans filters for a rate, in place of --bits: the fewest bits for which the rate that is
expected of a filter of -n random keys is as low. For bloom that is not the formula's rate, but
that of filter.PredictRate, which is higher.

sst fpr writes two files. It replaces existing ones.

  NAME.svg   a panel for each number of bits per key and policy, for light and dark pages.
             Each shape has a line for the mean of the runs, a dot for each of the first
             100 runs, and a band with the middle 8 of 10 runs, where each of these let a key
             through. The formula's rate is a dashed line. The axis is logarithmic, and
             begins at the lowest rate > 0 of a run. With a --width < 880 the panels are
             below each other, for phones.
  NAME.csv   the figures, with rates from 0 to 1. The columns are shape, policy, bits (per
             key, or of a fingerprint), k, m (bits of the filter), keys, load (keys divided
             by -n), runs, questions (of each run), mean and stddev of the rates, low and
             high (the ends of the 95 % interval of the mean, by Wilson's formula, which is
             wider where runs differ by more than chance), and theory (the formula's rate).

sst fpr prints the rates of filters with exactly -n keys. With --k it marks the lowest one, as
measured and by the formula. The same flags give the same
bytes. The defaults take a few seconds. On a terminal it shows its progress.`

const fprExamples = `  # Write rates.svg and rates.csv, in a few seconds.
  sst fpr -o rates

  # Filters as small as those of data blocks, and of a single key.
  sst fpr -o small -n 35 --runs 200
  sst fpr -o single -n 1 --runs 200

  # Your own keys, in filters that are planned for 1 %.
  sst fpr -o own --keys-from keys.txt -p 1%

  # All kinds of filters of tables, side by side.
  sst fpr -o kinds --policy bloom,table-bloom,fuse --shapes random,urls

  # The best k for 10 bits per key.
  sst fpr -o k --bits 10 --k 1-16

  # What it costs that LevelDB's bits are not independent.
  sst fpr -o bits --policy bloom,independent --bits 10 --k 1-16

  # Consecutive numbers, measured down to lower rates.
  sst fpr -o decimal --shapes decimal --bits 10,20 --questions 1000000

  # A second chart, for phones.
  sst fpr -o rates-narrow --width 360

  # A rough chart, at once.
  sst fpr -o quick -n 1000 --runs 3 --questions 1000`

// fprMemory is the memory that fpr keeps to. Runs and the keys of --keys-from take less.
const fprMemory memory.Limit = 1 << 30

// fprFlags are the flags of fpr.
type fprFlags struct {
	fpr.Config
	keyFlags
	name, keys, rate, k string
	ownLines            int // keys of --keys-from, with duplicates
}

func fprCommand() *cobra.Command {
	var f fprFlags
	cmd := &cobra.Command{
		Use:         "fpr [flags] -o NAME",
		Short:       "Measure the false-positive rate of filters as they fill up",
		Long:        fprLong,
		Example:     fprExamples,
		Annotations: exitStatus{exitUsage: "wrong usage, or a file that cannot be read or written"}.annotation(),
		Args:        cli.Arguments("flags only", 0, 0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.define(cmd)
	return cmd
}

// define adds the flags to the command.
func (f *fprFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.name, "output", "o", "", "write `NAME`.svg and NAME.csv (required)")
	flags.StringVarP(&f.keys, "keys", "n", "10_000", "number of `keys` that filters are sized for, 1 to 1M")
	flags.StringSliceVar(&f.Policies, "policy", []string{"bloom"}, "kinds of filters: some of "+text.OneOf(fpr.Policies()...))
	flags.IntSliceVar(&f.Bits, "bits", []int{4, 8, 10, 16}, "bits per key: up to 6 numbers, each 1 to 100")
	flags.StringVarP(&f.rate, "rate", "p", "", "plan the bits per key for this false-positive `rate`, ≥ 1e-9 and < 1")
	flags.StringVar(&f.k, "k", "", "measure full filters for each k of `FROM-TO`, 1 to 30, in place of how they fill up")
	flags.StringSliceVar(&f.Shapes, "shapes", fpr.Shapes(), "shapes of keys: see above")
	cli.CompleteList(cmd, "policy", fpr.Policies()...)
	cli.CompleteList(cmd, "shapes", fpr.Shapes()...)
	f.keyFlags.add(cmd, "measure")
	cli.CountVar(flags, &f.Runs, "runs", "", 10, "number of `runs` of each measurement, 2 to 1000")
	cli.CountVar(flags, &f.Questions, "questions", "", 100_000, "number of absent `keys` looked up in each run, 100 to 1M")
	cli.CountVar(flags, &f.Width, "width", "", 0, "width of the chart, 340 to 4000 `pixels` (default: 880, or 440 for each of more than two policies)")
	flags.Uint64Var(&f.Seed, "seed", 1, "`seed` of the random keys")
}

// run measures the rates, writes both files, and prints a summary.
func (f *fprFlags) run(cmd *cobra.Command) error {
	if err := f.parse(cmd.Flags()); err != nil {
		return err
	}
	defer fprMemory.Apply()()
	if err := f.readOwn(cmd); err != nil {
		return err
	}
	if err := f.Validate(); err != nil {
		return err
	}
	if err := memory.Check("sst fpr", f.TrialMemory(), "use a smaller -n or --questions, or raise the limit"); err != nil {
		return err
	}
	for _, name := range []string{f.name + ".svg", f.name + ".csv"} {
		if err := checkOutput(cmd.Context(), name); err != nil {
			return err
		}
	}
	f.noteOwn(cmd.ErrOrStderr())
	bar := progress.Count(cmd.ErrOrStderr(), int64(f.Trials()), "measuring", "runs")
	points, err := fpr.Measure(f.Config, func() { bar.Add(1) })
	bar.Done()
	if err != nil {
		return err
	}
	write := func(ctx context.Context) error { return writeRates(ctx, f.Config, points, f.name) }
	if err := cli.Interruptible(cmd.Context(), write); err != nil {
		return err
	}
	return fpr.WriteSummary(cmd.OutOrStdout(), f.Config, points)
}

// checkOutput returns an error if a file cannot be written, before it takes long to find out what to write.
func checkOutput(ctx context.Context, name string) error {
	out, err := output.Create(ctx, name, nil)
	if err != nil {
		return err
	}
	return out.Abort()
}

// parse checks the flags that are not those of a Config, or conflict with others.
func (f *fprFlags) parse(flags *pflag.FlagSet) (err error) {
	switch {
	case f.name == "":
		return cli.UsageErrorf("-o is not given, want the NAME of NAME.svg and NAME.csv")
	case f.name == "-":
		return cli.UsageErrorf("-o is -, want the NAME of NAME.svg and NAME.csv: two files do not fit standard output")
	case filepath.Base(f.name) == "." || filepath.Base(f.name) == ".." || os.IsPathSeparator(f.name[len(f.name)-1]):
		return cli.UsageErrorf("-o is %s, a directory, want the NAME of NAME.svg and NAME.csv", f.name)
	case f.rate != "" && flags.Changed("bits"):
		return cli.UsageErrorf("-p and --bits are both given, want one of them")
	case f.hex && f.from == "":
		return cli.UsageErrorf("--hex is given without --keys-from, want both or none")
	}
	if f.from != "" && !flags.Changed("shapes") {
		f.Shapes = nil
	}
	keys, err := cli.ParseCount("--keys", f.keys, fpr.MaxKeys)
	if err != nil {
		return err
	}
	f.Keys = int(keys)
	if f.rate != "" {
		if f.Rate, err = plan.ParseRate(f.rate); err != nil {
			return err
		}
	}
	if flags.Changed("k") {
		f.K, err = fpr.ParseSweep(f.k)
	}
	return err
}

// readOwn reads the keys of --keys-from, and makes the filters small enough for them.
func (f *fprFlags) readOwn(cmd *cobra.Command) error {
	if f.from == "" {
		return nil
	}
	outputs := append(output.FilesOf(cmd.OutOrStdout(), f.name+".svg"), output.FilesOf(nil, f.name+".csv")...)
	own, lines, err := fpr.Distinct(f.lines(cmd.InOrStdin(), outputs))
	if err != nil {
		return fmt.Errorf("--keys-from: %w", err)
	}
	f.Own, f.ownLines = own, lines
	if !cmd.Flags().Changed("keys") {
		f.Keys = min(f.Keys, f.OwnSize())
	}
	return nil
}

// noteOwn prints how the keys of --keys-from are used.
func (f *fprFlags) noteOwn(stderr io.Writer) {
	if f.Own == nil {
		return
	}
	added, asked := f.OwnQuestions()
	text.Line(stderr, "sst: note: %s, %s distinct: each run adds up to %s of them, and asks for %s others", text.Count(uint64(f.ownLines), "key"),
		humanize.Comma(int64(len(f.Own))), humanize.Comma(int64(added)), humanize.Comma(int64(asked)))
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
