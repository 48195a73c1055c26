package command

import (
	"cmp"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// buildFlags are the flags of build.
type buildFlags struct {
	writerFlags
	cli.MemoryFlags
	filterOnly           bool
	out, format          string
	internal             string
	internalKeys, sorted bool
	noFinalNewline       bool
	onDuplicate, tempDir string
	summary              string
	entriesPerTable      string
	never                string
	layerOf, delete      string
	filterKeys           string
	set, database        bool
	tableSize            string
	comparator           string
	force                bool
}

const buildLong = `Build a table, a set, a database or a filter. Each INPUT is a file of pairs in any order, or a
directory: its regular files are pairs of path and contents. Without INPUT, or for -, sst reads
standard input (with --delete, only for -). OUT appears once it is complete and on disk.
See sst help formats, sets and filters.`

func buildCommand() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		SuggestFor: []string{"import", "load", "create"},
		Use:        "build [flags] {-o OUT | --layer-of SET} [INPUT...]",
		Short:      "Build a table, set, database or filter from lines or files",
		Long:       buildLong,
		Annotations: cli.ExitStatus{
			cli.ExitOK:    "OUT is complete and on disk",
			cli.ExitUsage: "usage error, wrong input, or I/O error",
		}.Annotation(),
		Args:              cli.Arguments("INPUT", 0, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.AnyFile,
		Example: `  sst build -o capitals.ldb capitals.tsv
  sst build --set -o blocklist --on-duplicate first urls.txt
  sst build -o bad.filter --filter-only --never good.txt bad.txt`,
	}
	flags := cmd.Flags()
	f.addOut(cmd)
	flags.StringVar(&f.format, "input-format", "", "lines: "+input.Formats)
	flags.StringVar(&f.onDuplicate, "on-duplicate", "error", "for a repeated key: error, first, last or count")
	flags.BoolVar(&f.sorted, "sorted", false, "the lines are in order: do not sort them")
	flags.BoolVar(&f.noFinalNewline, "no-final-newline", false, "with --sorted, accept a last line without a newline")
	flags.StringVar(&f.internal, "internal-keys", "auto", "lines have sequence and kind: auto, yes or no")
	cli.Complete(cmd, "internal-keys", "auto", "yes", "no")
	flags.BoolVar(&f.filterOnly, "filter-only", false, "write a filter of the keys and no entries")
	flags.StringVar(&f.never, "never", "", "no key in this `file` is ever a false positive")
	flags.StringVar(&f.filterKeys, "filter-keys", "", "size the filter for this `number` of keys")
	flags.StringVar(&f.layerOf, "layer-of", "", "add a layer to this `set`, in place of -o OUT")
	flags.StringVar(&f.delete, "delete", "", "with --layer-of, remove the keys in this `file`")
	flags.StringVar(&f.summary, "manifest-line", "", "also write the table's line for sst manifest to this `file`")
	flags.StringVar(&f.comparator, "comparator", "bytewise", "key order: "+text.OneOf(comparers.FlagValues()...))
	cli.Complete(cmd, "comparator", comparers.FlagValues()...)
	f.addOutput(cmd)
	cli.ExplainIn(cmd, "filters", "filter-only", "filter-keys", "never")
	f.MemoryFlags.Add(cmd)
	cli.Complete(cmd, "input-format", input.FormatNames...)
	cli.Complete(cmd, "on-duplicate", "error", "first", "last", "count")
	cli.Exclude(cmd, "database", "manifest-line", "filter-only", "never", "layer-of")
	cli.Exclude(cmd, "layer-of", "output", "manifest-line", "set", "force")
	cli.Exclude(cmd, "manifest-line", "set", "entries-per-table")
	cli.Exclude(cmd, "filter-only", "bits")
	cli.Needs(cmd, "comparator", "database")
	cli.Needs(cmd, "delete", "layer-of")
	cli.Needs(cmd, "filter-keys", "filter-only")
	cli.Needs(cmd, "no-final-newline", "sorted")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) }
	return cmd
}

// addOut adds the flag that names OUT.
func (f *buildFlags) addOut(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write to this `file` or directory (required)")
}

// addOutput adds the flags that say what OUT is, and how to write it.
func (f *buildFlags) addOutput(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.set, "set", false, "write a set to the directory OUT, as for OUT/")
	flags.StringVar(&f.entriesPerTable, "entries-per-table", "1M", "write a set, with this `number` of entries per table")
	dbdir.AddForce(cmd, &f.force)
	flags.BoolVar(&f.database, "database", false, "write a LevelDB database to a new directory OUT")
	flags.StringVar(&f.tableSize, "table-size", "2MiB", "about the `size` of a database's tables")
	flags.StringVar(&f.tempDir, "temp-dir", "", "`directory` for temporary files")
	f.writerFlags.add(cmd)
	cli.ExplainIn(cmd, "tables", "temp-dir")
	cli.Exclude(cmd, "database", "set", "entries-per-table")
	cli.Needs(cmd, "table-size", "database")
}

// run builds the table or the set.
func (f *buildFlags) run(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	switch f.internal {
	case "auto", "no":
	case "yes":
		f.internalKeys = true
	default:
		return cli.UsageErrorf("--internal-keys is %s, not auto, yes or no", wire.Quote([]byte(f.internal)))
	}
	if err := cmp.Or(f.checkDatabase(), f.checkLayer(given)); err != nil {
		return err
	}
	if f.filterOnly {
		if err := f.setFilterOnly(given, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	return cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
		b, err := f.newBuild(ctx, args, cmd)
		if err != nil {
			return err
		}
		defer b.limit.Apply()()
		defer b.closeLists()
		return b.write(given)
	})
}

// setFilterOnly sets what --filter-only changes in other flags.
func (f *buildFlags) setFilterOnly(given func(name string) bool, stderr io.Writer) error {
	f.bits = -1
	if !given("table-filter") {
		f.tableFilter = tablefilter.Fuse(12)
	}
	if f.tableFilter == tablefilter.None {
		return cli.UsageErrorf("--filter-only is given, and --table-filter is none: want a filter")
	}
	if !given("on-duplicate") {
		f.onDuplicate = "first"
	}
	if f.layerOf == "" {
		filterfile.NoteName(stderr, f.out)
	}
	return nil
}

func (f *buildFlags) check() error {
	switch f.onDuplicate {
	case "error", "first", "last":
		return nil
	case "count":
		return f.checkCount()
	}
	return cli.UsageErrorf("--on-duplicate is %s, want error, first, last or count", wire.Quote([]byte(f.onDuplicate)))
}

// checkCount checks the flags that --on-duplicate count excludes.
func (f *buildFlags) checkCount() error {
	switch {
	case f.filterOnly:
		return cli.UsageErrorf("--filter-only and --on-duplicate count are both given, but a filter has no values to keep the numbers in: leave one of them out")
	case f.internalKeys:
		return cli.UsageErrorf("--internal-keys and --on-duplicate count are both given, but an engine gives each entry its own sequence number: leave one of them out")
	}
	return nil
}
