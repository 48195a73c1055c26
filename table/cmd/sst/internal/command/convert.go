package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

const convertLong = `Copy the entries of a table to a new table, with all versions and deletions. Settings without a
flag stay as in FILE, as far as its properties or blocks show them; filters get the names that sst
build gives. Exceptions (--never) are kept, but for another table filter they are not complete: a
note says so. OUT may be FILE. A directory is converted by sst merge, a damaged table by sst
repair.`

func convertCommand() *cobra.Command {
	var flags sourceFlags
	var writer writerFlags
	var out string
	cmd := &cobra.Command{
		Use:   "convert [flags] FILE -o OUT",
		Short: "Rewrite a table with other blocks, compression or filters",
		Long:  convertLong,
		Example: `  sst convert old.ldb -o new.ldb --compression zstd --block-size 16KiB
  sst convert users.ldb -o users.ldb --bits 14
  sst convert 000005.ldb -o pebble.sst --bits none --table-filter table-bloom:10 --properties`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "OUT is complete and on disk",
			cli.ExitDamaged: "FILE is damaged, and OUT was not written",
		}.Annotation(),
		Args:              cli.Arguments("FILE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, tableNames...),
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the table to this `file` (required)")
	writer.add(cmd)
	showRetainedDefaults(cmd.Flags())
	dbdir.AddForce(cmd, new(bool))
	flags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if out == "" {
			return errNoOutputTable
		}
		return flags.withFile(args[0], cmd.ErrOrStderr(), func(f *dbfile.File) error {
			stats, err := tablestats.Collect(f, f.Wrap, tablestats.NewBudget(1))
			if err != nil {
				return err
			}
			writer.retainSettings(stats, maxBlockSize, cmd.Flags().Changed)
			writer.notePrefixLoss(cmd.ErrOrStderr(), f)
			if f.Internal {
				noteNotRepaired(cmd.ErrOrStderr(), writer.compression)
			}
			bar := progress.Count(cmd.ErrOrStderr(), int64(stats.Entries), "converting", "entries")
			defer bar.Done()
			return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
				return convert(ctx, cmd, f, out, &writer, bar)
			})
		})
	}
	return cmd
}

// convert writes the new table.
func convert(ctx context.Context, cmd *cobra.Command, f *dbfile.File, out string, writer *writerFlags, bar *progress.Bar) error {
	o, err := writer.options(f.Internal, f.Order)
	if err != nil {
		return err
	}
	kept := keepExceptions(f, f.Internal, o)
	to, err := output.Create(ctx, out, cmd.OutOrStdout())
	if err == nil {
		err = writeTable(to, o, func(w *table.Writer) (bool, error) { return true, copyEntries(w, f, bar) })
	}
	if err != nil {
		return err
	}
	kept.note(cmd.ErrOrStderr())
	return nil
}

// copyEntries appends all entries of f to w.
func copyEntries(w *table.Writer, f *dbfile.File, bar *progress.Bar) error {
	for e, err := range f.Reader.All(&table.IterOptions{ReadAhead: 256 << 10}) {
		if err != nil {
			return f.Wrap(err)
		}
		if err := memory.CheckWrite(e.Key, e.Value); err != nil {
			return err
		}
		if err := w.Append(e.Key, e.Value); err != nil {
			return explainNever(f, e.Key, err)
		}
		if w.Entries()%progressEvery == 0 {
			bar.Add(progressEvery)
		}
	}
	return nil
}
