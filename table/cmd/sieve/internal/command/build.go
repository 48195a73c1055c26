package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/merge"
)

const buildLong = `Build a filter from the lines of FILE..., or standard input; duplicates count once. Query it with
sieve query, or in Go with package table. For lists that change or are very large, build a set: sst
build --filter-only -o DIR/.

Filters   fuse:BITS         smallest, up to 10 million keys; BITS is 4, 8, 10, 12, 14 or 16
          table-bloom:BITS  any number of keys; sieve union merges filters with the same --keys
          paged:BITS        a lookup reads only 4 KiB`

// buildFlags are the flags of build.
type buildFlags struct {
	cli.MemoryFlags
	out, filter, format, tempDir string
	keys                         uint64
}

func buildCommand() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build [flags] -o FILTER [FILE...]",
		Short: "Build a filter from lines",
		Long:  buildLong,
		Example: `  sieve build -o blocklist.filter urls.txt
  sieve build --filter table-bloom:10 --keys 10M -o monday.filter monday.txt
  zcat urls.gz | sieve build -o - > urls.filter`,
		Annotations:       cli.ExitStatus{cli.ExitOK: "FILTER is complete and on disk"}.Annotation(),
		Args:              cli.Arguments("FILE", 0, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.AnyFile,
		RunE:              cli.StopAtSignals(func(cmd *cobra.Command, paths []string) error { return f.run(cmd, paths) }),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write to this `file`; -: standard output (required)")
	flags.StringVar(&f.filter, "filter", tablefilter.Fuse(12), "`filter` to build")
	cli.Complete(cmd, "filter", tablefilter.Kinds[1:]...)
	flags.VarP(cli.Count(&f.keys, "", tablefilter.MaxEntries), "keys", "n", "size table-bloom for this many `keys`")
	cli.AddInputFormat(cmd, &f.format, "raw-keys")
	flags.StringVar(&f.tempDir, "temp-dir", "", "temporary `directory`")
	f.MemoryFlags.Add(cmd)
	return cmd
}

// run builds the filter.
func (f *buildFlags) run(cmd *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	if f.out == "" {
		return cli.UsageErrorf("missing -o FILTER (use - for standard output)")
	}
	policy, err := f.policy(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	limit, err := f.Limit()
	if err != nil {
		return err
	}
	options := input.Options{Format: f.format, KeysOnly: true, FilesOnly: true, Memory: limit}
	options.Outputs = output.FilesOf(cmd.OutOrStdout(), f.out)
	if err := options.Check(paths, cmd.InOrStdin()); err != nil {
		return err
	}
	filterfile.NoteName(cmd.ErrOrStderr(), f.out)
	defer limit.Apply()()
	read := &input.Reader{Paths: paths, Stdin: cmd.InOrStdin(), Stderr: cmd.ErrOrStderr(), Options: options}
	return output.WriteFile(cmd.Context(), f.out, cmd.OutOrStdout(), func(to io.Writer) error {
		return f.write(cmd.Context(), to, policy, read, limit)
	})
}

// policy returns the policy of the filter.
func (f *buildFlags) policy(stderr io.Writer) (filter.TablePolicy, error) {
	policy, err := tablefilter.Parse(f.filter)
	switch {
	case err != nil:
		return nil, cli.UsageErrorf("--filter is %w", err)
	case policy == nil:
		return nil, cli.UsageErrorf("--filter is none, not a filter such as fuse:12")
	case f.keys == 0:
		return tablefilter.Checked{TablePolicy: policy, Stderr: stderr}, nil
	}
	bloom, ok := policy.(filter.TableBloom)
	if !ok {
		return nil, cli.UsageErrorf("--keys needs --filter table-bloom:BITS: the keys determine the size of %s", format.Quote([]byte(f.filter)))
	}
	return filterfile.Sized(bloom, f.keys, stderr)
}

// write writes a filter of the distinct lines.
func (f *buildFlags) write(ctx context.Context, to io.Writer, policy filter.TablePolicy, read *input.Reader, limit memory.Limit) error {
	w, err := table.NewWriter(to, &table.WriterOptions{FilterOnly: true, TableFilterPolicy: policy})
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	o := &merge.SorterOptions{Memory: limit.SortMemory(), Dir: f.tempDir}
	for r, err := range input.Sort(ctx, read.Pairs(ctx), o) {
		if err == nil && !r.NextSameKey {
			err = w.Append(r.Key, nil)
		}
		if err != nil {
			return err
		}
	}
	return filterfile.ExplainTooManyKeys(w.Close(), "use --filter table-bloom:BITS or paged:BITS, or build a set with sst build --filter-only -o DIR/")
}
