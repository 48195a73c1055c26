package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

const convertLong = `Write the entries of a table to a new table. Settings without a flag stay as they are in
FILE, as far as FILE shows them: the compression of most blocks, the bits per key of the
filters, their prefixes, and whether there are properties. Block size and restart interval are
those in the properties. Without them, the block size is the uncompressed size of the
smallest data block but the last, and the restart interval is the most entries per restart
point. The filters get the names that sst build gives them. Internal keys stay internal
keys, with all versions and tombstones.

The exceptions that sst build --never has found are kept. If the new table has another filter
of the whole table, it has some keys of the list by chance that the old one has not: a note
says so. These are not known, so give the list to sst build --never again.

To convert a directory, use sst merge DIR -o OUT. A damaged FILE is not converted: use sst salvage.
The new table gets its name when it is complete and on disk. It replaces a file of that name, so OUT
may be FILE. If OUT is -, sst writes to standard output.`

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
  sst convert 000005.ldb -o pebble.sst --bits -1 --table-filter table-bloom:10 --properties`,
		Annotations: exitStatus{
			exitOK:      "OUT is complete and on disk",
			exitDamaged: "FILE is damaged, and OUT was not written",
		}.annotation(),
		Args:              cli.Arguments("FILE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, tableNames...),
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the table to this `file` (required)")
	writer.add(cmd)
	showRetainedDefaults(cmd.Flags())
	flags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if out == "" {
			return errNoOutputTable
		}
		return flags.withFile(args[0], cmd.ErrOrStderr(), func(f *source.File) error {
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
func convert(ctx context.Context, cmd *cobra.Command, f *source.File, out string, writer *writerFlags, bar *progress.Bar) error {
	o, err := writer.options(f.Internal, f.Order)
	if err != nil {
		return err
	}
	kept := keepExceptions(f, f.Internal, o)
	to, err := output.Create(ctx, out, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	defer to.Abort() // does nothing after Commit
	w, err := table.NewWriter(to, o)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if err := copyEntries(w, f, bar); err != nil {
		return err
	}
	if err := closeAndCommit(w, to); err != nil {
		return err
	}
	kept.note(cmd.ErrOrStderr())
	return nil
}

// copyEntries appends all entries of f to w.
func copyEntries(w *table.Writer, f *source.File, bar *progress.Bar) error {
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
