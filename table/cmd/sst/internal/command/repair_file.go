package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/merge"
)

// A tableRepair writes what can be read of a table to a new one.
type tableRepair struct {
	*repairFlags
	limit   memory.Limit
	file    *dbfile.File
	found   *salvage.Salvage
	options *table.WriterOptions
	pairs   int
	twice   uint64 // how many pairs are left out, because one before has the same key
}

// repairFile repairs a table or a log.
func (f *repairFlags) repairFile(cmd *cobra.Command, path string) (err error) {
	o, err := f.sourceFlags.options()
	if err != nil {
		return err
	}
	limit, err := f.Limit()
	if err != nil {
		return err
	}
	defer limit.Apply()()
	if dbfile.IsLogFile(path, o.Options) {
		if found, err := f.repairLog(cmd, path, o, limit); found || err != nil {
			return err
		}
	}
	o.MaxBlock = limit.MaxPair()
	file, err := dbfile.OpenDamaged(path, o.Options)
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
	r := &tableRepair{repairFlags: f, limit: limit, file: file}
	return r.run(cmd, o.InternalKeys)
}

func (r *tableRepair) run(cmd *cobra.Command, internal dbfile.InternalKeys) (err error) {
	if r.found, err = salvage.Open(r.file, internal); err != nil {
		return err
	}
	s, file := r.found, r.file
	if file.ForeignErr != nil && !s.Found() {
		if dbfile.IsLogFile(file.Path, dbfile.Options{}) {
			return fmt.Errorf("%s: no write of a log and no block of a table can be read", file.Path)
		}
		return file.ForeignErr
	}
	if r.options, err = r.limitedOptions(s.Internal, file.Order, r.limit); err != nil {
		return err
	}
	kept := keepExceptions(file, s.Internal, r.options)
	err = cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
		err := r.write(ctx)
		if errors.Is(err, table.ErrNever) {
			kept.leaveOut(r.options)
			err = r.write(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.Internal && r.pairs > 0 {
		noteNotRepaired(cmd.ErrOrStderr(), r.compression)
	}
	if r.pairs > 0 {
		kept.note(cmd.ErrOrStderr())
	}
	if err := r.print(cmd.OutOrStdout(), repaired{Source: file.Path, Pairs: uint64(r.pairs)}, nil, r.report); err != nil {
		return err
	}
	if s.Damage != nil || s.Lost.Any() || s.Disorder.Any() || r.twice > 0 {
		return damageReported{}
	}
	return nil
}

// write writes the new table. It writes nothing if there are no entries because of damage.
func (r *tableRepair) write(ctx context.Context) error {
	to, err := output.Create(ctx, r.out, nil)
	if err != nil {
		return err
	}
	return writeTable(to, r.options, func(w *table.Writer) (keep bool, err error) {
		r.twice, err = appendPairs(ctx, &boundedWriter{blockCounter: w, limit: r.limit}, r.found.Pairs(), r.options, r.limit)
		r.pairs = w.Entries()
		return r.pairs > 0 || r.found.Damage == nil && !r.found.Lost.Any(), err
	})
}

// retainSettings sets flags to the settings of the damaged table, if it can be opened.
func (f *repairFlags) retainSettings(file *dbfile.File, limit memory.Limit, given func(name string) bool) {
	if file.Reader == nil {
		return
	}
	stats, _ := tablestats.Collect(file, file.Wrap, tablestats.NewBudget(1)) // salvage itself reports the damage
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
	return appendFirst(w, input.Sort(ctx, pairs, sortOptions(o, limit, "")))
}

// appendFirst appends the sorted pairs, only the first one of each key.
func appendFirst(w appender, records iter.Seq2[*merge.Sorted, error]) (twice uint64, err error) {
	var before merge.Sorted
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
		before = *r
	}
	return twice, nil
}
