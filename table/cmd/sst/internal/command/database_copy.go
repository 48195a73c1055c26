package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
	"github.com/sievetable/sievetable/table/database"
)

// copyFlags are the flags of the commands that copy what is current in a database to a new one.
type copyFlags struct {
	sourceFlags
	writerFlags
	tableSize string
	certain   bool // leave out what is not certain
}

func (f *copyFlags) addCopy(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write the new database to this `directory`, which must be missing or empty (required)")
	cmd.Flags().StringVar(&f.tableSize, "table-size", "2MiB", "about the `size` of a table")
	f.writerFlags.add(cmd)
	f.sourceFlags.addDir(cmd)
}

// open opens the database for do, and shows how much of its tables is read.
func (f *copyFlags) open(cmd *cobra.Command, dir string, do func(s *source.Source) error) error {
	if f.out == "" {
		return cli.UsageErrorf("-o is not given, want the directory of the new database")
	}
	if !source.IsDirectory(dir) || source.IsSet(dir) {
		return fmt.Errorf("%s is not the directory of a database: to copy tables and sets, use sst merge", dir)
	}
	if isWithin(f.out, dir) {
		return cli.UsageErrorf("-o is %s, which is in %s: want a directory outside of it, as nothing is written there", f.out, dir)
	}
	f.scanOnly = true
	f.progress = progress.Bytes(cmd.ErrOrStderr(), sizeOfTables(dir, &f.sourceFlags), "copying")
	defer f.progress.Done()
	noteNotRepaired(cmd.ErrOrStderr(), f.compression)
	return f.with(dir, cmd.ErrOrStderr(), do)
}

// create returns the Writer of the new database.
func (f *copyFlags) create(s *source.Source) (*database.Writer, error) {
	switch {
	case s.Order == table.AnyOrder:
		return nil, fmt.Errorf("%s: the order of keys is unknown, and engines need it: %s", s.Path, comparers.Advice())
	case !s.Internal && len(s.Tables) > 0:
		return nil, fmt.Errorf("%s: the keys are no internal keys, so it is no database: use sst merge", s.Path)
	}
	o, err := f.writerFlags.options(false, s.Order)
	if err != nil {
		return nil, err
	}
	size, err := parseTableSize(f.tableSize)
	if err != nil {
		return nil, err
	}
	return database.Create(f.out, &database.WriterOptions{Table: *o, TableSize: size})
}

// A copied says what a new database has.
type copied struct {
	pairs     uint64
	sequence  uint64 // the highest one of what was read, or of the MANIFEST
	uncertain uint64 // pairs of which newer versions, or deletions, may be lost: copied, or left out
}

// copy writes the newest pairs of the database to a new one, which is complete if there is no error. If
// nothing is left of a damaged one, there is none.
func (f *copyFlags) copy(ctx context.Context, s *source.Source) (c copied, err error) {
	if c, err = f.copyOnce(ctx, s); !f.repairs || !errors.Is(err, table.ErrOrder) {
		return c, err
	}
	if err = s.SortDisordered(); err != nil {
		return c, err
	}
	return f.copyOnce(ctx, s)
}

func (f *copyFlags) copyOnce(ctx context.Context, s *source.Source) (c copied, err error) {
	w, err := f.create(s)
	if err != nil {
		return c, err
	}
	defer w.Abort() // does nothing after Close
	err = cli.Interruptible(ctx, func(ctx context.Context) error {
		return f.appendNewest(ctx, w, s, &c)
	})
	if err != nil || c.pairs == 0 && f.isDamaged(s) {
		return c, err
	}
	return c, errors.Join(w.SetLastSequence(c.sequence), w.Close())
}

func (f *copyFlags) isDamaged(s *source.Source) bool {
	return s.Damage != nil || s.LogDamage() != nil || len(s.Losses(source.KeyRange{})) > 0
}

func (f *copyFlags) appendNewest(ctx context.Context, w *database.Writer, s *source.Source, c *copied) error {
	lost := s.NewLossCursor()
	c.sequence = s.LastSequence()
	for e, err := range s.Scan(source.ScanOptions{Tombstones: true}) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if c.sequence = max(c.sequence, e.Sequence); e.Kind == table.KindDelete {
			continue
		}
		if f.repairs && !lost.IsCertain(e) {
			if c.uncertain++; f.certain {
				continue
			}
		}
		c.pairs++
		if err := w.AppendInternal(table.InternalKey{UserKey: e.Key, Sequence: e.Sequence, Kind: table.KindSet}, e.Value); err != nil {
			return err
		}
	}
	return nil
}

// report prints what was written.
func (f *copyFlags) report(cmd *cobra.Command, s *source.Source, c copied) {
	out := cmd.OutOrStdout()
	if c.pairs == 0 && f.isDamaged(s) {
		text.Line(out, "%s: found no pair that can be kept, and did not write %s", s.Path, f.out)
	} else {
		text.Line(out, "%s: wrote %s to %s", s.Path, text.Count(c.pairs, "pair"), f.out)
	}
	switch {
	case c.uncertain > 0 && f.certain:
		text.Line(out, "%s: left out %s, since newer versions of them, or deletions, may be lost", s.Path, text.Count(c.uncertain, "pair"))
	case c.uncertain == c.pairs && c.pairs > 0: // none would be left
		text.Line(out, "%s: newer versions or deletions of all of them may be lost", s.Path)
	case c.uncertain > 0:
		text.Line(out, "%s: newer versions or deletions of %s of them may be lost: to leave these out, run: sst repair --certain %s -o %s",
			s.Path, humanize.Comma(int64(c.uncertain)), text.ShellPath(s.Path), text.ShellPath(filepath.Clean(f.out)+".certain"))
	}
}
