package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
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
	onDuplicate, tempDir string
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
  raw-keys  one key per line, and no values; a backslash or tab is part of the key

With --internal-keys, each line also has a sequence number and a kind (set or delete).
They are columns between key and value, or JSON fields of those names. The table is then
like one of a LevelDB or goleveldb database.

Pairs are sorted in temporary files. With --sorted they must be in order already, and are
not sorted. These parts of --memory limit the input:

  - 1/16 plus 2 MiB for a line, or for a file in a directory
  - 1/2 for the index of the table

Some memory comes on top of --memory: the filters, with 4 bytes per key for a Bloom filter
of the whole table, 32 for a fuse filter, and 0.2 bytes per pair if more than 400 million
pairs are sorted.

With --filter-only the table has a filter of the keys and nothing else: neither keys nor
values. sst get then says "may be present" or "absent". The filter is fuse:12 unless
--table-filter gives another one, and a key may be repeated. LevelDB would see an empty
table, so give it another extension than .ldb.

The table gets its name when it is complete and on disk. It replaces a file of that name.`

func buildCommand() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build -o OUT [INPUT...]",
		Short: "Build a table from text, JSON or a directory tree",
		Long:  buildLong,
		Args:  arguments("INPUT", 0, unlimited, unlimited),
		Example: `  sst build -o capitals.ldb capitals.tsv
  sort words.txt | sst build -o words.ldb --format keys --sorted
  sst build -o go.ldb "$(go env GOROOT)/src"
  sst build -o users.ldb --on-duplicate last --compression zstd users.jsonl more.jsonl
  sst build -o seen.ldb --bits -1 --table-filter fuse:16 --format keys urls.txt
  sst build -o seen.filter --filter-only --format keys urls.txt`,
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write the table to this `file` (required)")
	flags.StringVarP(&f.format, "format", "f", "", "format of lines: "+input.Formats)
	flags.BoolVar(&f.internalKeys, "internal-keys", false, "lines also have a sequence number and a kind: build a table of internal keys")
	flags.StringVar(&f.onDuplicate, "on-duplicate", "error", "what to do with a repeated key: error, or keep the first or the last pair")
	flags.BoolVar(&f.sorted, "sorted", false, "do not sort the pairs, and fail if they are not in order")
	flags.BoolVar(&f.filterOnly, "filter-only", false, "write a filter of the keys, and neither keys nor values")
	f.memoryFlags.add(cmd)
	flags.StringVar(&f.tempDir, "temp-dir", "", "`directory` for temporary files (default: that of the system)")
	f.writerFlags.add(cmd)
	complete(cmd, "format", "tsv", "json", "hex", "raw", "keys", "raw-keys")
	complete(cmd, "on-duplicate", "error", "first", "last")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.filterOnly {
			if err := f.setFilterOnly(flags.Changed, cmd.ErrOrStderr()); err != nil {
				return err
			}
		}
		return interruptible(cmd.Context(), func(ctx context.Context) error {
			return f.build(ctx, args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		})
	}
	return cmd
}

func (f *buildFlags) build(ctx context.Context, inputs []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if f.out == "" {
		return errNoOutputTable
	}
	o, err := f.options(f.internalKeys, table.BytewiseComparer)
	if err != nil {
		return err
	}
	o.FilterOnly = f.filterOnly
	limit, err := f.limit()
	if err != nil {
		return err
	}
	if len(inputs) == 0 {
		inputs = []string{"-"}
	}
	in := input.Options{Format: f.format, InternalKeys: f.internalKeys, Memory: limit, Outputs: output.FilesOf(stdout, f.out)}
	if err := errors.Join(f.check(), in.Check(inputs, stdin)); err != nil {
		return err
	}
	defer limit.Apply()()
	if err := limitWriter(limit, o); err != nil {
		return err
	}
	to, err := output.Create(ctx, f.out, stdout)
	if err != nil {
		return err
	}
	defer to.Abort() // does nothing after Commit
	if in.Temporary, err = to.Temporary(); err != nil {
		return err
	}
	w, err := table.NewWriter(to, o)
	if err != nil {
		return err
	}
	bounded := &boundedWriter{Writer: w, limit: limit, filterOnly: f.filterOnly, unique: f.filterOnly && f.sorted && f.onDuplicate != "error"}
	read := &inputReader{paths: inputs, stdin: stdin, options: in, stderr: stderr}
	if f.sorted {
		err = read.appendSorted(bounded, read.pairs(ctx))
	} else {
		err = f.appendDeduplicated(bounded, sorting.Sort(ctx, read.pairs(ctx), sortOptions(o, limit, f.tempDir)), read)
	}
	if err != nil {
		return err
	}
	bounded.noteLeftOut(stderr)
	err = closeAndCommit(w, to)
	if errors.Is(err, fuse.ErrTooManyKeys) {
		err = fmt.Errorf("more than %s keys in one fuse filter: build several tables, or use --table-filter bloom:BITS", humanize.Comma(fuse.MaxKeys))
	}
	return err
}

// setFilterOnly sets what --filter-only changes in other flags.
func (f *buildFlags) setFilterOnly(given func(name string) bool, stderr io.Writer) error {
	if given("bits") && f.bits != -1 {
		return errors.New("--bits and --filter-only are both given, but there are no blocks to have filters: want --table-filter")
	}
	f.bits = -1
	if !given("table-filter") {
		f.tableFilter = tablefilter.Fuse(12)
	}
	if f.tableFilter == tablefilter.None {
		return errors.New("--filter-only is given, and --table-filter is none: want a filter")
	}
	if !given("on-duplicate") {
		f.onDuplicate = "first"
	}
	if ext := filepath.Ext(f.out); ext == ".ldb" || ext == ".sst" {
		text.Line(stderr, "sst: note: %s will be an empty table for LevelDB and others: a name such as %s tells it apart", f.out, strings.TrimSuffix(f.out, ext)+".filter")
	}
	return nil
}

func (f *buildFlags) check() error {
	switch f.onDuplicate {
	case "error", "first", "last":
		return nil
	}
	return fmt.Errorf("--on-duplicate is %q, want error, first or last", f.onDuplicate)
}

// progressEvery is after how many entries a loop shows its progress.
const progressEvery = 1 << 12

// appendSorted appends the pairs in the order of the input.
func (r *inputReader) appendSorted(w *boundedWriter, pairs iter.Seq2[input.Pair, error]) error {
	for pair, err := range pairs {
		if err == nil {
			err = w.Append(pair.Key, pair.Value)
		}
		if errors.Is(err, table.ErrOrder) {
			return fmt.Errorf("%v: %s: leave out --sorted", r.place, strings.TrimPrefix(err.Error(), "table: "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendDeduplicated appends the sorted records, at most one of each key.
func (f *buildFlags) appendDeduplicated(w *boundedWriter, records iter.Seq2[sorting.Record, error], read *inputReader) error {
	var before sorting.Record
	dropped := 0
	var writing *progress.Bar
	defer func() { writing.Done() }()
	for r, err := range records {
		if err != nil {
			return err
		}
		if writing == nil {
			writing = progress.Count(read.stderr, int64(read.n), "writing", "pairs")
		}
		if r.Number%progressEvery == 0 {
			writing.Add(progressEvery)
		}
		if before.NextSameKey && f.onDuplicate == "error" {
			return fmt.Errorf("key %s appears twice, as pairs %d and %d of the input: to keep one of them, use --on-duplicate first or last", wire.Quote(r.Key), before.Number+1, r.Number+1)
		}
		drop := before.NextSameKey
		if f.onDuplicate == "last" {
			drop = r.NextSameKey
		}
		if before = r; drop {
			dropped++
			continue
		}
		if err := w.appendRecord(r); err != nil {
			return err
		}
	}
	if dropped > 0 {
		text.Line(read.stderr, "sst: note: skipped %s with a repeated key", text.Count(uint64(dropped), "pair"))
	}
	return nil
}
