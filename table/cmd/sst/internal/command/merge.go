package command

import (
	"context"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// mergeFlags are the flags of merge.
type mergeFlags struct {
	from        sourceFlags
	to          buildFlags
	onDuplicate string
}

const mergeLong = `Merge tables, sets and databases into one table, set or database. Each INPUT is a SOURCE: see sst
help get. All are read at the same time, in the order of their keys, which must be the same. Nothing
is sorted again, so that there can be hundreds of INPUTs of any size. No INPUT is written to.

Of a key that several INPUTs have, --on-duplicate says which one's entry is taken:

  auto    as newest if all INPUTs have sequence numbers, and no two are of different databases;
          otherwise as last
  newest  the one with the highest sequence number, which all INPUTs must have; if two are equal,
          as last
  last    that of the last INPUT that has one: what comes later replaces what came before
  first   that of the first INPUT that has one
  error   none: sst ends, and OUT is not written

A database counts its writes on its own. So the sequence numbers of two databases do not say which
entry is newer, and user keys have none: your order of the INPUTs decides. Each directory counts as
a database. A table or a log with CURRENT or a MANIFEST beside it is of that database, and others
are taken for parts of the same one. For a database and an older copy of it, use newest. A note says
of how many keys sst took one entry of several, and which.

Of an INPUT that has several versions of a key, only the newest counts. If it is a deletion, it
hides the key in all INPUTs that it wins over, and OUT has no entry for it. Engines drop deletions
when they compact: then nothing hides the key in an older copy of the database, and it comes back.

OUT is a table; a set if it ends in / or --entries-per-table is given; or with --database a LevelDB
database, as sst help build says. Tables and sets have user keys. A database has the sequence
numbers of the INPUTs if these decided, and else 0. The order of keys is that of the INPUTs, which
for a set must be bytewise. OUT must not be an INPUT, or in one. It appears when it is complete
and on disk. An sst that is killed can leave sievetable-….tmp beside it, or in the directory of a
set: remove it.

Damage in an INPUT ends the command, and OUT is not written: use sst repair or sst salvage first.
Filters of sst build --filter-only have no keys to merge: build one from the keys, or use sst filter
union. Exceptions that sst build --never has found are not kept.`

func mergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge [flags] INPUT... -o OUT",
		Short: "Merge tables, sets and databases into one table, set or database",
		Long:  mergeLong,
		Example: `  sst merge monday.ldb tuesday.ldb -o week.ldb
  sst merge blacklist/ additions.ldb -o merged/
  sst merge --on-duplicate error part-*.ldb -o all/ --table-filter fuse
  sst merge --database --on-duplicate newest backup db -o both
  sst merge /var/lib/app/db -o app.ldb`,
		Annotations: exitStatus{
			exitOK:      "OUT is complete and on disk",
			exitDamaged: "an INPUT is damaged, and OUT was not written",
		}.annotation(),
		Args:              cli.Arguments("INPUT", 1, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.Files(0, sourceNames...),
	}
	rules := []string{ruleAuto, ruleNewest, ruleLast, ruleFirst, ruleError}
	cmd.Flags().StringVar(&f.onDuplicate, "on-duplicate", ruleAuto, "which entry of a key in several INPUTs is taken: auto, newest, last, first, or error")
	cli.Complete(cmd, "on-duplicate", rules...)
	f.to.addOutput(cmd)
	f.from.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(rules, f.onDuplicate) {
			return cli.UsageErrorf("--on-duplicate is %s, want auto, newest, last, first or error", wire.Quote([]byte(f.onDuplicate)))
		}
		return f.run(cmd, args)
	}
	return cmd
}

// run opens the inputs, and merges them.
func (f *mergeFlags) run(cmd *cobra.Command, inputs []string) error {
	if f.to.out == "" {
		return errNoOutputTable
	}
	if err := f.to.checkDatabase(cmd.Flags().Changed, "table-size"); err != nil {
		return err
	}
	for _, path := range inputs {
		if f.to.out != "-" && isWithin(f.to.out, wholeOf(path)) {
			return cli.UsageErrorf("-o is %s, which is the INPUT %s, or in it: want another name, as no INPUT is written to", f.to.out, path)
		}
	}
	f.from.scanOnly, f.from.strict, f.from.out = true, true, f.to.out
	f.from.progress = progress.Bytes(cmd.ErrOrStderr(), f.sizeOf(inputs), "merging")
	defer f.from.progress.Done()
	return f.openAll(inputs, cmd.ErrOrStderr(), nil, func(all []*source.Source) error {
		return cli.Interruptible(cmd.Context(), func(ctx context.Context) error { return f.merge(ctx, cmd, all) })
	})
}

// wholeOf returns the file or directory that is all of an input: of the manifest of a set, the directory.
func wholeOf(path string) string {
	if source.IsDirectory(path) {
		return directoryOf(path)
	}
	return path
}

// sizeOf returns the size of the tables of all inputs, or -1 if it is unknown.
func (f *mergeFlags) sizeOf(inputs []string) (sum int64) {
	for _, path := range inputs {
		size := sizeOfTables(path, &f.from)
		if size < 0 {
			return -1
		}
		sum += size
	}
	return sum
}

// openAll opens the inputs beside those that are open, for do. One whose directory is damaged is an
// error.
func (f *mergeFlags) openAll(inputs []string, stderr io.Writer, open []*source.Source, do func([]*source.Source) error) error {
	if len(inputs) == 0 {
		return do(open)
	}
	return f.from.with(inputs[0], stderr, func(s *source.Source) error {
		if s.Damage != nil {
			return nil // which is returned as it is
		}
		return f.openAll(inputs[1:], stderr, append(open, s), do)
	})
}

// merge writes OUT.
func (f *mergeFlags) merge(ctx context.Context, cmd *cobra.Command, all []*source.Source) error {
	m, err := newMerging(ctx, all, f.onDuplicate)
	if err != nil {
		return err
	}
	given := cmd.Flags().Changed
	if f.to.isSet(given) && m.order != table.BytewiseComparer && !f.to.database {
		return cli.UsageErrorf("the keys are in the order of %s, and those of a set in bytewise order: want a table, or --database", m.order.Name())
	}
	o, err := f.to.options(false, m.order)
	if err != nil {
		return err
	}
	f.to.internalKeys = f.to.database // build appends them to a database
	b := &build{
		buildFlags: &f.to, ctx: ctx, options: o, userOrder: m.order, limit: math.MaxInt64,
		read: &inputReader{stderr: cmd.ErrOrStderr()}, stdout: cmd.OutOrStdout(),
	}
	b.fill = func(w appender) (err error) {
		b.read.n, err = m.appendAll(w, f.to.internalKeys)
		if m.rule == ruleNewest {
			b.sequence = m.highest
		}
		return err
	}
	if err := b.write(given); err != nil {
		return err
	}
	m.note(cmd.ErrOrStderr())
	return nil
}
