package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// salvageFlags are the flags of salvage.
type salvageFlags struct {
	sourceFlags
	writerFlags
	memoryFlags
}

const salvageLong = `Copy all entries that can still be read from a damaged table to a new table: those of all
undamaged data blocks. sst reports what was lost, and the exit status is then 3.

Settings of the new table that no flag gives are the same as for sst convert, as far as the
damaged table still shows them. OUT is replaced if it exists. OUT must not be FILE. If
nothing was found, OUT is not written.

Data blocks are found through the index. If the index or the footer cannot be read, blocks
are found by their checksums, at any offset. sst reads the whole file into memory for this.
This search can also find blocks of a table that is stored as a value in FILE.

The entries are sorted in temporary files, and keys that were out of order are listed: one of them
can have been another key. If a key appears twice, the first entry in the file is kept. The order of
keys is unknown if undamaged blocks are not in bytewise order and neither a MANIFEST nor
--comparator names another order. All entries are then kept, in the order of the file.

These parts of --memory limit the table. If a limit is exceeded, the message says which
--memory is enough.

  - 1/4 for a file whose index cannot be read
  - 1/16 plus 2 MiB for an uncompressed block
  - 1/2 for the index of the new table

sst lists the first 100 losses, and prints totals for the others.

Of a log, FILE.log, OUT has the newest write of each key, out of all writes that can be read: also
of those that follow damage within 32 KiB, which engines and sst scan skip. Its keys are internal
keys, so that a deletion stays one and hides older versions in other tables. With --internal-keys no
they are user keys, and keys that were deleted are left out. The order of keys is that of the
MANIFEST in the log's directory, or of --comparator.

In a database, the new table cannot take the place of the damaged one, because the MANIFEST has
the size of the old one. sst repair makes a new database of all that can still be read.`

func salvageCommand() *cobra.Command {
	var f salvageFlags
	cmd := &cobra.Command{
		Use:     "salvage [flags] FILE -o OUT",
		Short:   "Copy what can still be read from a damaged table or log to a new table",
		Long:    salvageLong,
		Example: "  sst salvage broken.ldb -o rescued.ldb\n  sst salvage 000003.log -o rescued.ldb",
		Annotations: exitStatus{
			exitOK:      "nothing was lost",
			exitDamaged: "something was lost, skipped, or out of order",
		}.annotation(),
		Args:              cli.Arguments("FILE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, slices.Concat(tableNames, []string{"*.log"})...),
	}
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write the new table to this `file` (required)")
	f.memoryFlags.add(cmd)
	f.writerFlags.add(cmd)
	showRetainedDefaults(cmd.Flags())
	f.sourceFlags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.run(cmd, args[0])
	}
	return cmd
}

func (f *salvageFlags) run(cmd *cobra.Command, path string) (err error) {
	if f.out == "" {
		return cli.UsageErrorf("-o is not given, want the name of the new table")
	}
	if f.out == "-" {
		return cli.UsageErrorf("-o is -, want a file: standard output has the list of losses")
	}
	o, err := f.sourceFlags.options()
	if err != nil {
		return err
	}
	limit, err := f.limit()
	if err != nil {
		return err
	}
	defer limit.Apply()()
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, want a table or a log: for a database, use %s", path, source.RepairCommand(path))
	}
	if source.IsLogFile(path, o) {
		if found, err := f.salvageLog(cmd, path, o, limit); found || err != nil {
			return err
		}
	}
	o.MaxBlock = limit.MaxPair()
	file, err := source.OpenDamaged(path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.Reader != nil {
		if err := file.HiddenKeys(); err != nil {
			return err
		}
	}
	if err := checkMemory(file, limit); err != nil {
		return errors.Join(file.ForeignErr, file.Wrap(err))
	}
	f.retainSettings(file, limit, cmd.Flags().Changed)
	if file.Reader != nil {
		f.notePrefixLoss(cmd.ErrOrStderr(), file)
	}
	return f.salvage(cmd, file, o.InternalKeys, limit)
}

func (f *salvageFlags) salvage(cmd *cobra.Command, file *source.File, internal source.InternalKeys, limit memory.Limit) error {
	s, err := salvage.Open(file, internal)
	if err != nil {
		return err
	}
	if file.ForeignErr != nil && !s.Found() {
		if source.IsLogFile(file.Path, source.Options{}) {
			return fmt.Errorf("%s: no write of a log and no block of a table can be read", file.Path)
		}
		return file.ForeignErr
	}
	o, err := f.writerFlags.options(s.Internal, file.Order)
	if err != nil {
		return err
	}
	if err := limitWriter(limit, o); err != nil {
		return err
	}
	pairs, twice, kept := 0, uint64(0), keepExceptions(file, s.Internal, o)
	err = cli.Interruptible(cmd.Context(), func(ctx context.Context) (err error) {
		if pairs, twice, err = f.write(ctx, s, o, limit); errors.Is(err, table.ErrNever) {
			kept.leaveOut(o)
			pairs, twice, err = f.write(ctx, s, o, limit)
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.Internal && pairs > 0 {
		noteNotRepaired(cmd.ErrOrStderr(), f.compression)
	}
	if pairs > 0 {
		kept.note(cmd.ErrOrStderr())
	}
	if f.report(cmd.OutOrStdout(), file, s, limit, pairs, twice); s.Damage != nil || s.Lost.Any() || s.Disorder.Any() || twice > 0 {
		return damageReported{}
	}
	return nil
}

// write writes the new table. It writes nothing if there are no entries because of damage.
func (f *salvageFlags) write(ctx context.Context, s *salvage.Salvage, o *table.WriterOptions, limit memory.Limit) (pairs int, twice uint64, err error) {
	to, err := output.Create(ctx, f.out, nil)
	if err != nil {
		return 0, 0, err
	}
	defer to.Abort() // does nothing after Commit
	w, err := table.NewWriter(to, o)
	if err != nil {
		return 0, 0, err
	}
	defer w.Abort() // does nothing after Close
	twice, err = appendPairs(ctx, &boundedWriter{blockCounter: w, limit: limit}, s.Pairs(), o, limit)
	if err != nil || w.Entries() == 0 && (s.Damage != nil || s.Lost.Any()) {
		return 0, twice, err
	}
	return w.Entries(), twice, closeAndCommit(w, to)
}

// retainSettings sets flags to the settings of the damaged table, if it can be opened.
func (f *salvageFlags) retainSettings(file *source.File, limit memory.Limit, given func(name string) bool) {
	if file.Reader == nil {
		return
	}
	stats := tablestats.CollectSound(file) // salvage itself reports the damage
	if stats.Entries == 0 {
		return
	}
	byDefault, unread := f.bits, unreadFilters(stats)
	f.writerFlags.retainSettings(stats, min(int64(limit.MaxPair()), maxBlockSize), given)
	if unread.blocks && !given("bits") {
		f.bits = byDefault
	}
	if unread.table != "" && !given("table-filter") {
		f.tableFilter = unread.table
	}
}

// An unread is what a table had of filters that cannot be read.
type unread struct {
	blocks bool
	table  string // a filter of that kind, as in package tablefilter; "" if it had none
}

// unreadFilters compares the names in the metaindex with the filters that could be read.
func unreadFilters(s *tablestats.Stats) (u unread) {
	for _, m := range s.Meta {
		if strings.HasPrefix(m.Name, format.FilterPrefix) {
			u.blocks = true
		} else if policy, found := strings.CutPrefix(m.Name, format.TableFilterPrefix); found {
			u.table = tablefilter.OfPolicy(policy)
		}
	}
	for _, f := range s.Filters {
		if f.WholeTable {
			u.table = ""
		} else {
			u.blocks = false
		}
	}
	return u
}

// appendPairs appends the pairs in order, or in file order if the order is unknown.
func appendPairs(ctx context.Context, w appender, pairs iter.Seq2[input.Pair, error], o *table.WriterOptions, limit memory.Limit) (twice uint64, err error) {
	if table.BlockOrder(o.Comparer).Unchecked {
		for p, err := range pairs {
			if err := errors.Join(err, w.Append(p.Key, p.Value)); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}
	return appendFirst(w, sorting.Sort(ctx, pairs, sortOptions(o, limit, "")))
}

// appendFirst appends the sorted pairs, only the first one of each key.
func appendFirst(w appender, records iter.Seq2[sorting.Record, error]) (twice uint64, err error) {
	var before sorting.Record
	for r, err := range records {
		if err == nil && !before.NextSameKey {
			err = appendRecord(w, r)
		}
		if err != nil {
			return 0, err
		}
		if before.NextSameKey {
			twice++
		}
		before = r
	}
	return twice, nil
}
