package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

func verifyCommand() *cobra.Command {
	var flags sourceFlags
	var quiet bool
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR...",
		Short: "Check every block, the order of all keys, and the filters",
		Long: `Check tables, of a directory those that sst get would search: every block's checksum
and form, the order of all keys, within blocks, from one to the next and against the
index, and that no filter denies a key that is there. Of a database's tables it is checked
too that they are as its MANIFEST says: size, first and last key, sequence numbers. Of
its logs every record is checked.

Each table has a line that says it is ok, or one for each damaged part. Damage in one
part does not keep the others from being checked; only without footer or index nothing
more is found, and sst salvage finds what there is. The exit status is 3 if anything
is damaged. Keys that are not in bytewise order, in blocks whose checksums are right, are
no damage if neither a MANIFEST nor --comparator says what their order is.`,
		Example: `  sst verify users.ldb
  sst verify --quiet /var/lib/app/db && echo sound`,
		Args: arguments("FILE or DIR", 1, unlimited, unlimited),
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "say nothing of tables that are ok")
	flags.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags.scanOnly = true // Verify reads the filters anew
		o, err := flags.options()
		if err != nil {
			return err
		}
		tables, failed := targetsOf(args, o, cmd.ErrOrStderr())
		if err := o.Outputs.CheckAll(pathsOf(tables)); err != nil {
			return err
		}
		bar := progress.Bytes(cmd.ErrOrStderr(), totalSize(pathsOf(tables)), "verifying")
		o.WrapReader = bar.ReaderAt
		defer bar.Done()
		return errors.Join(append(failed, verify(cmd.OutOrStdout(), tables, o, quiet))...)
	}
	return cmd
}

// verify checks one table after the other. What cannot be read is an error in the
// end, and no damage.
func verify(out io.Writer, tables []target, o source.Options, quiet bool) error {
	var damaged []string
	var failed []error
	for _, t := range tables {
		but, err := t.verify(o)
		if t.wasRemoved(err, o) {
			text.Line(out, "%s: gone before it was checked: its database is in use", t.Path)
			continue
		}
		switch {
		case err == nil && !quiet:
			text.Line(out, "%s: ok%s", t.Path, but)
		case errors.Is(err, table.ErrCorrupt) && !errors.As(err, new(*table.CorruptionError)):
			failed = append(failed, damageReported{}) // which salvage does not mend
		case errors.Is(err, table.ErrCorrupt):
			damaged = append(damaged, t.Path)
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: not all could be checked", t.Path))
		}
		for _, line := range text.Lines(err) {
			text.Line(out, "%s", line)
		}
	}
	if damaged != nil {
		failed = append(failed, damageReported{damaged})
	}
	return errors.Join(failed...)
}

// verify returns all that is wrong with a table or log, or what could not be checked of a
// sound one.
func (t target) verify(o source.Options) (but string, err error) {
	if t.log {
		return source.VerifyLog(t.Path)
	}
	o.Order = t.order
	f, err := source.Open(t.Path, t.Options(o))
	if err != nil {
		return "", err
	}
	if filters := f.Filters(); filters.UnknownPolicy {
		but = ", but only the checksum of its filter was checked: " + filters.Reason()
	}
	if f.Rewritten {
		but += ", but it was written by goleveldb's recovery, as no table of a database is: goleveldb's Get misses some of its keys"
	}
	err = f.Reader.Verify()
	if again, failed := f.ReopenInAnyOrder(err); again || failed != nil {
		err = errors.Join(failed, f.Reader.Verify())
	}
	if f.OrderNote != "" {
		but += ", but its " + f.OrderNote
	}
	if f.FilterHasUserKeys && err != nil && !errors.Is(err, table.ErrCorrupt) {
		err = errors.New("its filter has keys without sequence number and kind, and was not checked: want --internal-keys auto or yes")
	}
	if t.Meta != nil {
		err = errors.Join(err, f.CheckManifest(t.version, t.Meta))
	}
	return but, f.Wrap(errors.Join(err, f.Close()))
}
