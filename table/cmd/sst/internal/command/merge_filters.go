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
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// isFilter reports whether a file is a table with a filter only. Another error is returned when the file is merged.
func isFilter(path string) bool {
	if dbdir.IsDirectory(path) {
		return false
	}
	f, err := dbfile.Open(path, dbfile.Options{ScanOnly: true})
	if err != nil {
		return false
	}
	defer f.Close() // it was only read
	return f.Reader.FilterOnly()
}

// mergeFilters unites filters. The flags of other outputs are errors.
func (f *mergeFlags) mergeFilters(cmd *cobra.Command, paths []string) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "output" {
			err = cli.UsageErrorf("--%s is given, but the INPUTs are filters, and their union is like them: leave it out", flag.Name)
		}
	})
	if err != nil {
		return err
	}
	noteFilterName(cmd.ErrOrStderr(), f.to.out)
	return cli.Interruptible(cmd.Context(), func(ctx context.Context) error { return uniteFilters(ctx, cmd, paths, f.to.out) })
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
		err := flags.withFile(path, cmd.ErrOrStderr(), func(f *dbfile.File) error { return addTo(&union, f) })
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
func addTo(union *table.FilterUnion, f *dbfile.File) error {
	err := union.Add(f.Reader)
	if errors.Is(err, table.ErrNoUnion) && !f.Reader.FilterOnly() {
		err = fmt.Errorf("%w: a table with entries, want a filter only, as sst build --filter-only writes it", table.ErrNoUnion)
	}
	return f.Wrap(err)
}

// checkNoFilters returns an error for a directory of filters, or the manifest of a set of them.
func checkNoFilters(path string) error {
	if !dbdir.IsDirectory(path) {
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
