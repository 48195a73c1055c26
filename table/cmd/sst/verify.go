package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/meter"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// damageFound ends a command that has said on its output what is damaged.
type damageFound struct{ files []string }

func (damageFound) Error() string        { return "damage was found" }
func (damageFound) Is(target error) bool { return target == table.ErrCorrupt }

func verifyCommand() *cobra.Command {
	var flags sourceFlags
	var quiet bool
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR...",
		Short: "Check every block, the order of all keys, and the filters",
		Long: `Check tables, of a directory those that sst get would search: every block's checksum
and form, the order of all keys, within blocks, from one to the next and against the
index, and that no filter denies a key that is there.

Each table has a line that says it is ok, or one for each damaged part. Damage in one
part does not keep the others from being checked; only without footer or index nothing
more is found, and sst salvage finds what there is. The exit status is 3 if anything
is damaged.`,
		Example: `  sst verify users.ldb
  sst verify --quiet /var/lib/app/db && echo sound`,
		Args: arguments("FILE or DIR", 1, anyNumber, anyNumber),
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "say nothing of tables that are ok")
	flags.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags.through = true // Verify reads the filters anew
		o, err := flags.options()
		if err != nil {
			return err
		}
		paths, size, failed := tablesOf(args, o, cmd.ErrOrStderr())
		if err := o.Outputs.CheckAll(paths); err != nil {
			return err
		}
		bar := meter.Bytes(cmd.ErrOrStderr(), size, "verifying")
		o.Watch = bar.ReaderAt
		defer bar.Done()
		return errors.Join(append(failed, verify(cmd.OutOrStdout(), paths, o, quiet))...)
	}
	return cmd
}

// tablesOf returns the tables that the arguments name, and how many bytes they have.
// What cannot be listed is an error of its own.
func tablesOf(args []string, o source.Options, note io.Writer) (paths []string, size int64, failed []error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			paths = append(paths, arg) // opening it tells
			continue
		}
		dir, err := source.ListDir(arg, o)
		failed = append(failed, err)
		slices.Reverse(dir.Tables)
		paths = append(paths, dir.Tables...)
		for _, n := range dir.Notes {
			text.Line(note, "sst: note: %s", n)
		}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	return paths, size, failed
}

// verify checks one table after the other. What cannot be read is an error in the
// end, and no damage.
func verify(out io.Writer, paths []string, o source.Options, quiet bool) error {
	var damaged []string
	var failed []error
	for _, path := range paths {
		but, err := verifyFile(path, o)
		switch {
		case err == nil && !quiet:
			text.Line(out, "%s: ok%s", path, but)
		case errors.Is(err, table.ErrCorrupt):
			damaged = append(damaged, path)
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: not all could be checked", path))
		}
		for _, line := range text.Lines(err) {
			text.Line(out, "%s", line)
		}
	}
	if damaged != nil {
		failed = append(failed, damageFound{damaged})
	}
	return errors.Join(failed...)
}

// verifyFile returns all that it finds, or what could not be checked of a sound table.
func verifyFile(path string, o source.Options) (but string, err error) {
	f, err := source.Open(path, o)
	if err != nil {
		return "", err
	}
	if filters := f.Filters(); filters.Unknown {
		but = ", but only the checksum of its filter was checked: " + filters.Why()
	}
	err = f.Reader.Verify()
	if f.UserFilter && err != nil && !errors.Is(err, table.ErrCorrupt) {
		err = errors.New("its filter has keys without sequence number and kind, and was not checked: want --internal-keys auto or yes")
	}
	return but, f.Wrap(errors.Join(err, f.Close()))
}
