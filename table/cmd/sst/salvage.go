package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/anatomy"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/extern"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/salvage"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// salvageFlags are the options of salvage.
type salvageFlags struct {
	sourceFlags
	writerFlags
	memoryFlags
}

func salvageCommand() *cobra.Command {
	var f salvageFlags
	cmd := &cobra.Command{
		Use:   "salvage FILE -o OUT",
		Short: "Write a new table of all that can still be read of a damaged one",
		Long: `Write every pair that can still be read of a damaged table to a new one: those of all
data blocks that are whole. What was lost is reported, and the exit status is then 3.

How the new table is written is, where no flag says it, as sst convert has it, as far as
that still shows. OUT is replaced if it is there, but is not FILE, and is not written if
nothing was found.

Where blocks are the index says. If it cannot be read, or the footer, blocks are found
by their checksums, wherever they start, for which the file is taken into memory.
The pairs are put in order anew, in temporary files; of a key that is there twice, the
first pair in the file is kept.

A file without index may take a quarter of --memory, and a block a
sixteenth and 2 MiB, and the new table's index a half. Where blocks are searched for,
those of a table that is the value of an entry can be found too.`,
		Example: "  sst salvage broken.ldb -o rescued.ldb",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "the table's `file` (required)")
	f.memoryFlags.add(cmd)
	f.writerFlags.add(cmd)
	retained(cmd.Flags())
	f.sourceFlags.add(cmd)
	cmd.MarkFlagRequired("output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.run(cmd, args[0])
	}
	return cmd
}

func (f *salvageFlags) run(cmd *cobra.Command, path string) (err error) {
	if f.out == "-" {
		return errors.New("-o is -, want a file: standard output has what was lost")
	}
	o, err := f.sourceFlags.options()
	if err != nil {
		return err
	}
	limit, err := f.limit()
	if err != nil {
		return err
	}
	defer limit.Hold()()
	o.MaxBlock = limit.Pair()
	file, err := source.OpenDamaged(path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := checkMemory(file, limit); err != nil {
		return file.Wrap(err)
	}
	f.retain(file, limit, cmd.Flags().Changed)
	return f.salvage(cmd.Context(), cmd.OutOrStdout(), file, o.InternalKeys, limit)
}

// checkMemory returns an error if the file, or one of its blocks, is too large to be taken
// into memory.
func checkMemory(file *source.File, limit memory.Limit) error {
	if file.Layout == nil {
		if err := limit.CheckFile(file.Size); err != nil {
			return fmt.Errorf("its index cannot be read: %w", err)
		}
		return nil
	}
	for _, part := range file.Layout.Data {
		if err := limit.CheckPair(int64(part.Length)); err != nil {
			return fmt.Errorf("data block at %d: %w", part.Offset, err)
		}
	}
	return nil
}

func (f *salvageFlags) salvage(ctx context.Context, out io.Writer, file *source.File, internal source.InternalKeys, limit memory.Limit) error {
	s, err := salvage.Of(file, internal)
	if err != nil {
		return err
	}
	o, err := f.writerFlags.options(s.Internal)
	if err != nil {
		return err
	}
	if err := holdTo(limit, o); err != nil {
		return err
	}
	pairs, twice := 0, uint64(0)
	err = interruptible(ctx, func(ctx context.Context) (err error) {
		pairs, twice, err = f.write(ctx, s, o, limit)
		return err
	})
	if err != nil {
		return err
	}
	if f.tell(out, file.Path, s, pairs, twice); s.Damage != nil || len(s.Lost) > 0 || twice > 0 {
		return damageFound{}
	}
	return nil
}

// write writes the new table, unless there is nothing to write where something was lost.
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
	twice, err = appendFirst(&boundedWriter{Writer: w, limit: limit}, extern.Sort(ctx, s.Pairs(), sorting(o, limit, "")))
	if err != nil || w.Entries() == 0 && (s.Damage != nil || len(s.Lost) > 0) {
		return 0, twice, err
	}
	return w.Entries(), twice, finish(w, to)
}

// tell says what was kept and what was lost.
func (f *salvageFlags) tell(out io.Writer, path string, s *salvage.Salvage, kept int, twice uint64) {
	if s.Searched {
		text.Line(out, "%s: the index cannot be read, so blocks were searched for by their checksums (%s)", path, reason(s.Damage))
	} else if s.Damage != nil {
		text.Line(out, "%s: the table cannot be opened (%s)", path, reason(s.Damage))
	}
	for _, l := range s.Lost {
		text.Line(out, "%s: lost %s (%s)", path, l.What, reason(l.Why))
	}
	for _, l := range s.LeftOut {
		text.Line(out, "%s: left out %s (%s)", path, l.What, reason(l.Why))
	}
	if twice > 0 {
		text.Line(out, "%s: left out %s: their keys came twice, and the first of each in the file was kept", path, count(twice, "pair"))
	}
	if kept == 0 && (s.Damage != nil || len(s.Lost) > 0) {
		text.Line(out, "%s: found nothing to keep, and wrote nothing to %s", path, f.out)
		return
	}
	text.Line(out, "%s: kept %s of %s, in %s", path, count(uint64(kept), "pair"), count(uint64(s.Blocks), "data block"), f.out)
}

// reason is what err says, but for the file and the package.
func reason(err error) string {
	var c *table.CorruptionError
	if errors.As(err, &c) {
		err = c
	}
	return strings.TrimPrefix(err.Error(), "table: ")
}

// retain has the new table written as the damaged one was, if it can be opened.
func (f *salvageFlags) retain(file *source.File, limit memory.Limit, given func(name string) bool) {
	if file.Reader == nil {
		return
	}
	if stats := anatomy.SoundStatsOf(file); stats.Entries > 0 { // what is damaged salvage itself reports
		f.writerFlags.retain(stats, min(int64(limit.Pair()), mostBlockSize), func(name string) bool {
			return given(name) || name == "bits" && file.Unused() != "" // it had one
		})
	}
}

// appendFirst appends the pairs in order, the first one of each key.
func appendFirst(w *boundedWriter, records iter.Seq2[extern.Record, error]) (twice uint64, err error) {
	var before extern.Record
	for r, err := range records {
		if err == nil && !before.Again {
			err = w.appendRecord(r)
		}
		if err != nil {
			return 0, err
		}
		if before.Again {
			twice++
		}
		before = r
	}
	return twice, nil
}
