package command

import (
	"cmp"
	"errors"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

const statsLong = `Print statistics of tables: the offsets and sizes of their blocks, how much space
compression and shared key prefixes save, and the false-positive rates of the filters. For
a directory or a set, print them for each table that sst get would search.

sst reads the whole table. It gives two false-positive rates of a filter: the one that is predicted
from bits, keys and k, and the one measured with random keys: 10 for each key of the filter, at
most 300,000. Filters of few keys are measured with 10,000 to 30,000. More than 100 tables share
30,000,000 random keys, with at least 1,000 for each filter. A measured rate has as many decimals
as that gives.

A third rate is that of neighbours: absent keys that differ from present ones in their last byte, of
up to 200 data blocks. Bloom filters of numbers can let half of these pass. Where more than 1.5
times as many pass as of random keys, and as predicted, a warning says so: a fuse filter ends that.
With --json it is neighbour_rate.

Sizes of keys and values are counted by powers of two: 4-7 B are 4 to 7 bytes, and 1-2 KiB are at
least 1 KiB and less than 2. Keys are counted without sequence number and kind here.

If anything is damaged or missing, sst names the lost ranges of keys, and for a log the sequence
numbers of the lost writes. It counts the rest, and exits with status 3. --strict stops at the
first damaged file.

--summary describes a database by its MANIFEST and the sizes of its files, without opening
a table. It takes directories only. For each level it prints the number of tables, their
size, their first and last key, and how many tables overlap. It also prints the last
sequence number, the comparator, and the logs. A live log may hold writes that are not in
a table yet. Without a readable MANIFEST it lists the tables and logs. Of a set, it prints
the number of tables and entries, how even the tables are, the range of keys, and how much its
layers change. From a tenth of its entries on, it says how to fold them into a new set. The exit
status is 3 if a table is missing or has the wrong size.

` + tryHelp + "\n\n" + byPrefixHelp

func statsCommand() *cobra.Command {
	var flags sourceFlags
	var prefixes prefixFlags
	var asJSON, asSummary, asTrial bool
	cmd := &cobra.Command{
		Use:   "stats [flags] FILE|DIR...",
		Short: "Print statistics of tables, databases and sets, and of their filters",
		Long:  statsLong,
		Example: `  sst stats users.ldb
  sst stats --summary /var/lib/app/db
  sst stats --try users.ldb
  sst stats --by-prefix --delimiter / /var/lib/app/db
  sst stats --json users.ldb | jq '.filters[0].measured_rate'`,
		Annotations: exitStatus{
			exitDamaged: "a table or a log is damaged or missing; with --summary: missing, or of a wrong size",
		}.annotation(),
		Args:              cli.Arguments("FILE or DIR", 1, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.Files(0, sourceNames...),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per table, or with --by-prefix, --try and --summary per FILE or DIR, with sizes in bytes")
	cmd.Flags().BoolVar(&asSummary, "summary", false, "describe a database by its MANIFEST, without opening tables")
	cmd.Flags().BoolVar(&asTrial, "try", false, "show how large the data would be with other block sizes and compressions")
	prefixes.add(cmd)
	flags.addDir(cmd)
	flags.addStrict(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := flags.newPass(cmd, asJSON)
		if err != nil {
			return err
		}
		if prefixes.rule, err = prefixes.parse(cmd.Flags().Changed); err != nil {
			return err
		}
		switch {
		case asSummary && asTrial:
			return cli.UsageErrorf("--summary and --try are both given, want one of them")
		case prefixes.on && (asSummary || asTrial):
			return cli.UsageErrorf("--by-prefix is given with --summary or --try, want one of them")
		case prefixes.on:
			flags.scanOnly = true
			return each(p, args, func(path string) error { return p.countPrefixes(path, &prefixes) })
		case asSummary:
			return each(p, args, p.summarize)
		case asTrial:
			return each(p, args, p.try)
		}
		return p.statsOfAll(args)
	}
	return cmd
}

// statsOfAll prints the statistics of all tables and logs, and then returns their damage.
func (p *pass) statsOfAll(args []string) error {
	files := p.targets(args, false)
	bar := progress.Bytes(p.stderr, sizeOf(files...), "reading")
	defer bar.Done()
	p.options.WrapReader = bar.ReaderAt
	budget := tablestats.NewBudget(len(files))
	return p.eachFile(files, func(t target) error {
		switch t.kind {
		case isLog:
			return p.statsOfLog(t)
		case isRecords:
			return p.statsOfRecords(t.Path)
		}
		return p.statsOfTable(t, budget)
	})
}

// statsOfTable prints the statistics of a table, and then returns its damage.
func (p *pass) statsOfTable(t target, budget *tablestats.Budget) error {
	o := p.options
	o.Order = t.in.order
	f, err := t.Open(o)
	if err != nil {
		return t.Loss(err)
	}
	s, damage := tablestats.Collect(f, f.Loss, budget)
	damage = f.JoinLosses(damage)
	s.Measure(f)
	note, err := t.CheckSizeOf(f)
	p.noteAbout(t.Path, note)
	return errors.Join(damage, t.Loss(err), p.print(s, func(w io.Writer) { printStats(w, s) }), f.Close())
}

// statsOfLog prints the statistics of a log, and then returns its damage.
func (p *pass) statsOfLog(t target) error {
	s, l := summary.LogStats{File: t.Path}, t.nextLog()
	if err := s.Count(l, table.AnyOrder); err != nil {
		return err
	}
	p.noteAbout(t.Path, l.UnwrittenNote())
	return cmp.Or(p.print(s, func(w io.Writer) { printLogStats(w, &s) }), l.DamageError())
}

func printLogStats(w io.Writer, s *summary.LogStats) {
	text.Row(w, "log", "%s: %s", s.File, text.Bytes(uint64(s.Size)))
	if s.Writes == 0 {
		text.Row(w, "  writes", "none")
		return
	}
	text.Row(w, "  writes", "%s, including %s", humanize.Comma(int64(s.Writes)), text.Count(uint64(s.Deletions), "deletion"))
	text.Row(w, "  sequence", "%d to %d", s.First, s.Last)
	text.Row(w, "  keys", "%s", text.Bytes(uint64(s.KeyBytes)))
	text.Row(w, "  values", "%s", text.Bytes(uint64(s.ValueBytes)))
	text.Row(w, "  key sizes", "%s", s.KeySizes)
	text.Row(w, "  value sizes", "%s", s.ValueSizes)
}
