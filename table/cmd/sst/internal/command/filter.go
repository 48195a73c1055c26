package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

const filterLong = `Unite filters without their keys: OUT may have each key that one of the FILEs may have.

Each FILE is a filter of sst build --filter-only --table-filter table-bloom --filter-keys N,
with the same N and the same bits per key, so that all have one size. N is the number of keys
that they have together: OUT is then the filter of all these keys, with its rate of false
positives. With more keys it has more of them. Fuse filters have no union: build one of all
keys. For tables with values, use sst merge.

The number of keys that sst stats shows of OUT is the sum of those of the FILEs: a key of
several FILEs counts several times, also if OUT is a FILE that has it already. sst stats then
predicts more false positives than OUT has. It measures what OUT has.

Exceptions, which sst build --never has found, stay if all other filters deny the key too. The
others are left out, and counted, since another FILE may have the key. A key that no single
filter has by chance, but all together, is no exception of OUT, though all may have been built
with it in --never.

sst cannot see whether the keys have been given in the same form, such as with or without
--internal-keys. The filters of all FILEs are in memory at once. OUT gets its name when it is
complete and on disk. It replaces a file of that name, so OUT may be a FILE. If OUT is -, sst
writes to standard output.`

func filterCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "filter union -o OUT FILE...",
		Short: "Unite filters without their keys",
		Long:  filterLong,
		Example: `  sst build -o mon.filter --filter-only --table-filter table-bloom:12 --filter-keys 10M mon.tsv
  sst build -o tue.filter --filter-only --table-filter table-bloom:12 --filter-keys 10M tue.tsv
  sst filter union -o week.filter mon.filter tue.filter
  sst filter union -o week.filter week.filter wed.filter`,
		Annotations: exitStatus{
			exitOK:      "OUT is complete and on disk",
			exitUsage:   "wrong usage, a file that cannot be read or written, or filters that have no union",
			exitDamaged: "a FILE is damaged, and OUT was not written",
		}.annotation(),
		Args:              checkFilterArguments,
		ValidArgsFunction: completeFilter,
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the filter to this `file` (required)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if out == "" {
			return errNoOutputTable
		}
		noteFilterName(cmd.ErrOrStderr(), out)
		return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
			return uniteFilters(ctx, cmd, args[1:], out)
		})
	}
	return cmd
}

// checkFilterArguments checks the operation, and the number of files.
func checkFilterArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && args[0] != "union":
		return cli.UsageErrorf("there is no operation %s, want union", wire.Quote([]byte(args[0])))
	case len(args) < 2:
		return cli.UsageErrorf("got no FILE, want union and ≥ 1 FILE")
	}
	return cli.Arguments("union and FILEs", 2, cli.Unlimited, cli.Unlimited)(cmd, args)
}

// completeFilter completes the operation, and then files.
func completeFilter(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []string{"union"}, cobra.ShellCompDirectiveNoFileComp
	}
	return cli.Files(0, tableNames...)(cmd, args, typed)
}

// errNoUnion says what to do about filters that cannot be united.
var errNoUnion = errors.New("to unite filters, build each by sst build --filter-only --table-filter table-bloom:BITS --filter-keys N with the same BITS and N, or build one filter of all keys")

// uniteFilters writes the union of the files to out.
func uniteFilters(ctx context.Context, cmd *cobra.Command, paths []string, out string) error {
	var union table.FilterUnion
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := checkNoFilters(path); err != nil {
			return err
		}
		flags := sourceFlags{internalKeys: "auto", comparator: "auto", scanOnly: true, stdout: cmd.OutOrStdout}
		err := flags.withFile(path, cmd.ErrOrStderr(), func(f *source.File) error { return addTo(&union, f) })
		if errors.Is(err, table.ErrNoUnion) {
			return errors.Join(err, errNoUnion)
		}
		if err != nil {
			return err
		}
	}
	return output.WriteFile(ctx, out, cmd.OutOrStdout(), func(to io.Writer) error {
		err := union.Write(to)
		if n := union.LeftOut(); err == nil && n > 0 {
			text.Line(cmd.ErrOrStderr(), "sst: note: left out %s, since another of the filters may have the key", text.Count(uint64(n), "exception"))
		}
		return err
	})
}

// addTo adds the filter of a file to the union.
func addTo(union *table.FilterUnion, f *source.File) error {
	err := union.Add(f.Reader)
	if errors.Is(err, table.ErrNoUnion) && !f.Reader.FilterOnly() {
		err = fmt.Errorf("%w: a table with entries, want a filter only, as sst build --filter-only writes it", table.ErrNoUnion)
	}
	return f.Wrap(err)
}

// checkNoFilters returns an error for a directory of filters, or the manifest of a set of them.
func checkNoFilters(path string) error {
	if !source.IsDirectory(path) {
		return nil
	}
	dir, kind := path, "a directory"
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		dir, kind = filepath.Dir(path), "the manifest of a set"
	}
	isFilter := func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".filter" }
	if entries, err := os.ReadDir(dir); err != nil || !slices.ContainsFunc(entries, isFilter) {
		return err
	}
	return fmt.Errorf("%s is %s, want its filters: %s", path, kind, filepath.Join(text.ShellPath(dir), "*.filter"))
}

// noteFilterName says what other programs see in a table with a filter only, if it gets the name of one of
// theirs.
func noteFilterName(stderr io.Writer, out string) {
	if ext := filepath.Ext(out); ext == ".ldb" || ext == ".sst" {
		text.Line(stderr, "sst: note: %s will be an empty table for LevelDB and others: a name such as %s tells it apart", out, strings.TrimSuffix(out, ext)+".filter")
	}
}
