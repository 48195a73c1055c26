package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/database"
)

// A databaseRepair writes the newest pairs of a database to a new one.
type databaseRepair struct {
	*repairFlags
	pairs     uint64
	sequence  uint64 // the highest one of what was read, or of the MANIFEST
	uncertain uint64 // pairs of which newer versions, or deletions, may be lost: copied, or left out
}

func (r *databaseRepair) run(cmd *cobra.Command, dir string) error {
	if isWithin(r.out, dir) {
		return cli.UsageErrorf("-o is %s, which is in %s: want a directory outside of it, as nothing is written there", r.out, dir)
	}
	r.scanOnly, r.repairs = true, true
	r.progress = progress.Bytes(cmd.ErrOrStderr(), sizeOfTables(dir, &r.sourceFlags), "copying")
	defer r.progress.Done()
	noteNotRepaired(cmd.ErrOrStderr(), r.compression)
	return r.with(dir, cmd.ErrOrStderr(), func(s *source.Source) error {
		if err := r.copy(cmd.Context(), s); err != nil {
			return err
		}
		lost := lostFrom(s)
		err := r.print(cmd.OutOrStdout(), repaired{Source: dir, Pairs: r.pairs}, lost, func(out io.Writer) { r.report(out, s) })
		return errors.Join(lost, err)
	})
}

// create returns the Writer of the new database.
func (r *databaseRepair) create(s *source.Source) (*database.Writer, error) {
	switch {
	case s.Order == table.AnyOrder:
		return nil, fmt.Errorf("%s: the order of keys is unknown, and engines need it: %s", s.Path, comparers.Advice())
	case !s.Internal && len(s.Tables) > 0:
		return nil, fmt.Errorf("%s: the keys are no internal keys, so it is no database: use sst merge", s.Path)
	}
	o, err := r.writerFlags.options(false, s.Order)
	if err != nil {
		return nil, err
	}
	size, err := parseTableSize(r.tableSize)
	if err != nil {
		return nil, err
	}
	return database.Create(r.out, &database.WriterOptions{Table: *o, TableSize: size, Mode: modeOfDatabase(s.Path)})
}

// copy writes the new database, which is complete if there is no error. If nothing is left of a damaged one, there
// is none.
func (r *databaseRepair) copy(ctx context.Context, s *source.Source) error {
	err := r.copyOnce(ctx, s)
	if !errors.Is(err, table.ErrOrder) {
		return err
	}
	if err = s.SortDisordered(); err != nil {
		return err
	}
	return r.copyOnce(ctx, s)
}

func (r *databaseRepair) copyOnce(ctx context.Context, s *source.Source) error {
	w, err := r.create(s)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	r.pairs, r.uncertain = 0, 0
	err = cli.Interruptible(ctx, func(ctx context.Context) error { return r.appendNewest(ctx, w, s) })
	if err != nil || r.pairs == 0 && hasDamage(s) {
		return err
	}
	return errors.Join(w.SetLastSequence(r.sequence), w.Close())
}

func hasDamage(s *source.Source) bool {
	return s.Damage != nil || s.LogDamage() != nil || len(s.Losses(source.KeyRange{})) > 0
}

func (r *databaseRepair) appendNewest(ctx context.Context, w *database.Writer, s *source.Source) error {
	lost := s.NewLossCursor()
	r.sequence = s.LastSequence()
	for e, err := range s.Scan(source.ScanOptions{Tombstones: true}) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if r.sequence = max(r.sequence, e.Sequence); e.Kind == table.KindDelete {
			continue
		}
		if !lost.IsCertain(e) {
			if r.uncertain++; r.certain {
				continue
			}
		}
		r.pairs++
		if err := w.AppendInternal(table.InternalKey{UserKey: e.Key, Sequence: e.Sequence, Kind: table.KindSet}, e.Value); err != nil {
			return err
		}
	}
	return nil
}

// report prints what was written.
func (r *databaseRepair) report(out io.Writer, s *source.Source) {
	if r.pairs == 0 && hasDamage(s) {
		text.Line(out, "%s: found no pair that can be kept, and did not write %s", s.Path, r.out)
	} else {
		text.Line(out, "%s: wrote %s to %s", s.Path, text.Count(r.pairs, "pair"), r.out)
	}
	switch {
	case r.uncertain > 0 && r.certain:
		text.Line(out, "%s: left out %s, since newer versions of them, or deletions, may be lost", s.Path, text.Count(r.uncertain, "pair"))
	case r.uncertain == r.pairs && r.pairs > 0: // none would be left
		text.Line(out, "%s: newer versions or deletions of all of them may be lost", s.Path)
	case r.uncertain > 0:
		text.Line(out, "%s: newer versions or deletions of %s of them may be lost: to leave these out, run: sst repair --certain %s -o %s",
			s.Path, humanize.Comma(int64(r.uncertain)), text.ShellPath(s.Path), text.ShellPath(filepath.Clean(r.out)+".certain"))
	}
}
