package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/meter"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// damageFound ends a command that has said on its output what is damaged.
type damageFound struct{}

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
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "say nothing of tables that are ok")
	flags.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags.through = true // Verify reads the filters anew
		o, err := flags.options()
		if err != nil {
			return err
		}
		paths, size, failed := tablesOf(args, flags.allTables, cmd.ErrOrStderr())
		bar := meter.Bytes(cmd.ErrOrStderr(), size, "verifying")
		o.Watch = bar.ReaderAt
		defer bar.Done()
		return errors.Join(append(failed, verify(cmd.OutOrStdout(), paths, o, quiet))...)
	}
	return cmd
}

// tablesOf returns the tables that the arguments name, and how many bytes they have.
// What cannot be listed is an error of its own.
func tablesOf(args []string, all bool, note io.Writer) (paths []string, size int64, failed []error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			paths = append(paths, arg) // opening it tells
			continue
		}
		dir, err := source.ListDir(arg, all)
		failed = append(failed, err)
		slices.Reverse(dir.Tables)
		paths = append(paths, dir.Tables...)
		for _, n := range dir.Notes {
			fmt.Fprintln(note, "sst: note:", n)
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
	var damaged bool
	var failed []error
	for _, path := range paths {
		findings, but := verifyFile(path, o)
		for _, err := range findings {
			fmt.Fprintln(out, err)
		}
		switch {
		case slices.ContainsFunc(findings, func(err error) bool { return errors.Is(err, table.ErrCorrupt) }):
			damaged = true
		case len(findings) > 0:
			failed = append(failed, fmt.Errorf("%s: not all could be checked", path))
		case !quiet:
			fmt.Fprintf(out, "%s: ok%s\n", path, but)
		}
	}
	if damaged {
		failed = append(failed, damageFound{})
	}
	return errors.Join(failed...)
}

// verifyFile returns what it finds, each with the path, and what could not be checked.
func verifyFile(path string, o source.Options) (findings []error, but string) {
	f, err := source.Open(path, o)
	if err != nil {
		return flatten(err), ""
	}
	if filters := f.Filters(); filters.Unknown {
		but = ", but only the checksum of its filter was checked: " + strings.TrimPrefix(filters.Err.Error(), "table: ")
	}
	findings = flatten(errors.Join(f.Reader.Verify(), f.Close()))
	for i, err := range findings {
		findings[i] = fmt.Errorf("%s: %w", path, err)
	}
	return findings, but
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	return []error{err}
}
