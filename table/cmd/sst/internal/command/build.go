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
	internalKeys, sorted bool
	noFinalNewline       bool
	onDuplicate, tempDir string
	summary              string
	entriesPerTable      string
	never                string
	layerOf, delete      string
	filterKeys           string
	database             bool
	tableSize            string
	comparator           string
	force                bool
}

const buildLong = `Build a table, a set, a database or a filter from lines or from a directory tree. Each INPUT is a
file of pairs in any order, or a directory: each regular file in it is a pair of path and contents.
Without INPUT, or for -, sst reads standard input, but with --delete only for -. OUT appears when
it is complete and on disk, and replaces a file of that name. A database must be a missing or empty
directory.
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
  sst build -o blocklist/ --format raw-keys --on-duplicate first urls.txt
  sst build -o bad.filter --filter-only --format raw-keys --never good.txt bad.txt`,
	}
	flags := cmd.Flags()
	f.addOut(cmd)
	flags.StringVarP(&f.format, "format", "f", "", input.Formats)
	flags.StringVar(&f.onDuplicate, "on-duplicate", "error", "for a repeated key: error, first, last or count")
	flags.BoolVar(&f.sorted, "sorted", false, "the lines are in order: do not sort them")
	flags.BoolVar(&f.noFinalNewline, "no-final-newline", false, "with --sorted, accept a last line without a newline")
	flags.BoolVar(&f.internalKeys, "internal-keys", false, "lines also have a sequence number and a kind")
	flags.BoolVar(&f.filterOnly, "filter-only", false, "write a filter of the keys and no entries")
	flags.StringVar(&f.never, "never", "", "no key in this `file` is ever a false positive")
	flags.StringVar(&f.filterKeys, "filter-keys", "", "size the filter for this `number` of keys")
	flags.StringVar(&f.layerOf, "layer-of", "", "add a layer to this `set`, in place of -o OUT")
	flags.StringVar(&f.delete, "delete", "", "with --layer-of, remove the keys in this `file`")
	flags.StringVar(&f.summary, "summary", "", "also write the table's line for sst manifest to this `file`")
	flags.StringVar(&f.comparator, "comparator", "bytewise", "key order: "+text.OneOf(comparers.FlagValues()...))
	cli.Complete(cmd, "comparator", comparers.FlagValues()...)
	f.addOutput(cmd)
	f.MemoryFlags.Add(cmd)
	cli.Complete(cmd, "format", input.FormatNames...)
	cli.Complete(cmd, "on-duplicate", "error", "first", "last", "count")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) }
	return cmd
}

// addOut adds the flag that names OUT.
func (f *buildFlags) addOut(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "write a table to this `file`, or a set to DIR/ (required)")
}

// addOutput adds the flags that say what OUT is, and how to write it.
func (f *buildFlags) addOutput(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.entriesPerTable, "entries-per-table", "1M", "write a set, with this `number` of entries per table")
	dbdir.AddForce(cmd, &f.force)
	flags.BoolVar(&f.database, "database", false, "write a LevelDB database to the directory OUT")
	flags.StringVar(&f.tableSize, "table-size", "2MiB", "about the `size` of a database's tables")
	flags.StringVar(&f.tempDir, "temp-dir", "", "`directory` for temporary files")
	f.writerFlags.add(cmd)
}

// run builds the table or the set.
func (f *buildFlags) run(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	if err := cmp.Or(f.checkDatabase(given, "table-size", "comparator"), f.checkLayer(given)); err != nil {
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
	if given("bits") && f.bits != -1 {
		return cli.UsageErrorf("--bits and --filter-only are both given, but there are no blocks to have filters: want --table-filter")
	}
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
	if f.noFinalNewline && !f.sorted {
		return cli.UsageErrorf("--no-final-newline is given without --sorted, want both: only sorted lines must end in a newline")
	}
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
