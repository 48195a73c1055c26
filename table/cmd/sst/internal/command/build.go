package command

import (
	"cmp"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// buildFlags are the flags of build.
type buildFlags struct {
	writerFlags
	memoryFlags
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
}

const buildLong = `Build a table from the key-value pairs in the inputs. The pairs may be in any order.

An INPUT is a file with one pair per line, or a directory. Without an INPUT, and if
INPUT is -, sst reads standard input. In a directory, each regular file at any depth is
a pair: its key is the path below the directory, with slashes, and its value is the
contents. Symbolic links are skipped, and so is OUT. Apart from that, an INPUT must not
be OUT, and must be neither a table nor the directory of a database. If OUT is -, sst
writes to standard output.

Lines have the formats that sst scan prints. --format is one of

  tsv       key, tab, value, with escapes such as \t, \n, \\ and \xff. This is the
            default, except for files called .json, .jsonl or .ndjson
  json      an object with key or key_base64, and value or value_base64
  hex       like tsv, in hexadecimal
  raw       like tsv, but a backslash is not an escape
  keys      one key per line, with escapes, and no values
  raw-keys  one key per line, and no values. Each byte of the line is part of the key: a
            backslash, a tab, and a carriage return before the end of the line. An empty
            line is the empty key

A UTF-8 byte order mark at the start of an input is left out, with a note. With raw and raw-keys it
is part of the first key, and a note says so. UTF-16 is an error in the other formats.

With --internal-keys, each line also has a sequence number and a kind (set or delete).
They are columns between key and value, or JSON fields of those names. The table is then
like one of a LevelDB or goleveldb database.

Pairs are sorted with 1/4 of --memory, and with temporary files if they take more. With
--sorted they must be in order already, and are not sorted. The last line of an input must
then end in a newline too, in all formats: without one, what sorted the lines may have been
killed. --no-final-newline takes it as it is.

A key must not be repeated, unless --on-duplicate says what to keep: its first or its last pair
in the order of the input, or the count of its pairs, as a decimal number in place of a value.

These parts of --memory limit the input:

  - 1/16 plus 2 MiB for a line, or for a file in a directory
  - 1/2 for the index of the table

Some memory comes on top of --memory: the filters, with 4 bytes per key for a Bloom filter
of the whole table, 32 for a fuse filter, and 0.2 bytes per pair if more than 400 million
pairs are sorted; for a set, its manifest.

With --never, no key of a list is found by mistake, such as those of a whitelist beside a
blacklist. The list is an input of the same format, whose values do not matter. Its keys
that the filter of the table has by chance are stored beside it, and are then "absent": with
fuse:12, 1 of 4096. A key that is in both inputs is an error. It needs --table-filter or
--filter-only. Other programs that read the table ignore these keys.

With --filter-prefix, the filters hold the prefixes of the keys too, so that sst scan
--prefix, once it knows the order of keys, and a program's iterators read nothing for most
prefixes that no key has. Other programs use the filters as before.

With --filter-only the table has a filter of the keys and nothing else: neither keys nor
values. sst get then says "may be present" or "absent". The filter is fuse:12 unless
--table-filter gives another one, and a key may be repeated. LevelDB would see an empty
table, so give it another extension than .ldb. With --filter-keys N, filters of at most N keys
have one size, so that sst filter union can unite them: see sst help filter. Prefixes count as
keys. A note says if there are more.

The table gets its name when it is complete and on disk. It replaces a file of that name.

If OUT ends in / or if --entries-per-table is given, sst writes a set to the directory OUT:
tables of at most that many entries, and their manifest set.jsonl. The largest table has at
most 1.3 times as many entries as the mean. Up to 4 times --entries-per-table pairs are
kept in a temporary file for that. The names of the tables have their number and the start
of their SHA-256. They get them when all are complete, and the manifest is written last, so
that it never lists a table that is not there. It replaces one that is there. No build
removes a table that has its name: the older ones stay, also if several builds run at once.
A build that is killed can leave a directory sievetable-….tmp there, and tables that no
manifest lists: remove them when no build is running. An input without pairs makes a set of
0 tables, but is an error if the manifest that is there lists tables.

With --layer-of, the pairs are added to a set as a layer: keys that are new, or have another value.
Those of --delete are removed, whether the set has them or not. That FILE has the format of an
INPUT. Values do not matter, and a line of tsv, hex or raw may be a key alone. With --delete, no
INPUT means that nothing is added. The layer has tables of its own, in the directory of the set, and
its manifest gets them last: all other files stay as they are. Each layer that does not have a key
costs its false positives. So its tables have --table-filter table-bloom:10 beside --bits 10, unless
one of these is given, and those of removals always have both. Any number of builds may add layers
to a set at once. A set of --filter-only takes no other pairs, and no --delete: build it anew from
the keys. sst stats --summary says when to fold the layers, by sst merge SET -o NEW/.

With --database, OUT is a LevelDB database, which goleveldb, C++ LevelDB and what is built on them
open at once: CURRENT, a MANIFEST, and tables of --table-size on the last level. OUT must be missing
or empty, and appears when it is complete: nothing is added to a database. Without
--internal-keys all pairs have the sequence number 0. A program opens it with the comparator
whose order --comparator gives. A build that is killed can leave a directory sievetable-….tmp
beside OUT: remove it.

Other programs can cut a sorted input into tables too, on any number of machines. With
--summary each table comes with its line for the manifest. sst manifest joins these, and
compares the numbers of tables and keys with those that you have counted. Keys must be in
the order of LC_ALL=C, and none may be in two tables.`

// lineFormats are the formats of input lines.
var lineFormats = []string{"tsv", "json", "hex", "raw", "keys", "raw-keys"}

func buildCommand() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build [flags] {-o OUT | --layer-of SET} [INPUT...]",
		Short: "Build a table, a set or a database from text, JSON or a directory tree",
		Long:  buildLong,
		Annotations: exitStatus{
			exitOK:    "OUT is complete and on disk",
			exitUsage: "wrong usage, wrong input, or a file that cannot be read or written",
		}.annotation(),
		Args:              cli.Arguments("INPUT", 0, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.AnyFile,
		Example: `  sst build -o capitals.ldb capitals.tsv
  sst build -o words.ldb --format keys words.txt
  sst build -o go.ldb "$(go env GOROOT)/src"
  sst build -o users.ldb --on-duplicate last --compression zstd users.jsonl more.jsonl
  sst build -o words.ldb --format keys --on-duplicate count words.txt
  sst build -o seen.ldb --bits -1 --table-filter fuse:16 --format raw-keys urls.txt
  sst build -o seen.filter --filter-only --format raw-keys urls.txt
  sst build -o bad.filter --filter-only --format raw-keys --never good.txt bad.txt
  sst build -o blacklist/ --format raw-keys --on-duplicate first urls.txt
  sst build --layer-of blacklist/ --format raw-keys --delete gone.txt new.txt
  sst build --database -o db users.jsonl
  set -o pipefail  # so that a sort that fails is not taken for a short one
  LC_ALL=C sort -u urls.txt | split -d -a 5 -l 1000000 \
    --filter='sst build --sorted --format raw-keys --summary $FILE.json -o $FILE.ldb' - part- &&
    sst manifest --entries "$(LC_ALL=C sort -u urls.txt | wc -l)" -o set.jsonl part-*.json`,
	}
	f.addOutput(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.summary, "summary", "", "also write the table's line for a manifest to this `file`, for sst manifest; -: standard output")
	flags.StringVarP(&f.format, "format", "f", "", "format of lines: "+input.Formats)
	flags.BoolVar(&f.internalKeys, "internal-keys", false, "lines also have a sequence number and a kind: build a table of internal keys")
	flags.StringVar(&f.onDuplicate, "on-duplicate", "error", "what to do with a repeated key: error, keep the first or the last pair, or count its pairs")
	flags.BoolVar(&f.sorted, "sorted", false, "do not sort the pairs, and fail if they are not in order")
	flags.BoolVar(&f.noFinalNewline, "no-final-newline", false, "with --sorted, take a last line without a newline too")
	flags.BoolVar(&f.filterOnly, "filter-only", false, "write a filter of the keys, and neither keys nor values")
	flags.StringVar(&f.never, "never", "", "the filter of the table must not have the keys of this `file` by chance: store those that it has as exceptions")
	flags.StringVar(&f.layerOf, "layer-of", "", "add the pairs to this `set`, as a layer of what has changed, in place of -o OUT")
	flags.StringVar(&f.delete, "delete", "", "with --layer-of, remove the keys of this `file` from the set; -: standard input")
	flags.StringVar(&f.filterKeys, "filter-keys", "", "with --filter-only, make a filter table-bloom as large as for this `number` of keys, for sst filter union")
	flags.StringVar(&f.comparator, "comparator", "bytewise", "with --database, the order of its keys: "+text.OneOf(comparers.FlagValues()...))
	cli.Complete(cmd, "comparator", comparers.FlagValues()...)
	f.memoryFlags.add(cmd)
	cli.Complete(cmd, "format", lineFormats...)
	cli.Complete(cmd, "on-duplicate", "error", "first", "last", "count")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) }
	return cmd
}

// addOutput adds the flags that say what OUT is, and how to write it.
func (f *buildFlags) addOutput(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write the table to this `file`, or a set to this directory, with / at the end, or a database (required)")
	flags.StringVar(&f.entriesPerTable, "entries-per-table", "1M", "write a set of tables of at most this `number` of entries: OUT is a directory")
	flags.BoolVar(&f.database, "database", false, "write a LevelDB database: OUT is a directory")
	flags.StringVar(&f.tableSize, "table-size", "2MiB", "with --database, about the `size` of a table")
	flags.StringVar(&f.tempDir, "temp-dir", "", "`directory` for temporary files (default: that of the system)")
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
		noteFilterName(stderr, f.out)
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
