package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// buildFlags are the options of build.
type buildFlags struct {
	writerFlags
	memoryFlags
	out, format          string
	internalKeys, sorted bool
	onDuplicate, tempDir string
}

const buildLong = `Build a table of the pairs in the inputs, which need not be in order. Each INPUT is
a file with a pair on each line, or a directory: each regular file below it becomes
a pair of its slash path there and its contents; symbolic links are left out, and so is
OUT. No other INPUT can be OUT, or a table. No INPUT and - are standard input; -o - is
standard output.

Lines are what sst scan prints. --format is

  tsv   key, tab and value, with escapes such as \t, \n, \\ and \xff. This is the
        default, but for files called .json, .jsonl or .ndjson
  json  an object of key or key_base64, and value or value_base64
  hex   as tsv, in hexadecimal
  raw   as tsv, where a backslash is just that
  keys  keys, with escapes, and no values

With --internal-keys, lines have a sequence number and a kind (set or delete)
between key and value, or in fields of those names, and the table is one of a
LevelDB or goleveldb database.

Pairs are sorted in temporary files. A line, or a file of a directory, may take a
sixteenth of --memory and 2 MiB, and the table's index a half. On top of it come the
filters, with 4 bytes per key for one of the whole table, and a fifth of a byte per pair
if there are more than 400 million to sort. --sorted spares the sorting if pairs are in order
already.

The table appears under its name when it is complete and on disk. A file that is
there is replaced.`

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
  sst build -o seen.ldb --bits -1 --table-bits 16 --format keys urls.txt`,
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "the table's `file` (required)")
	flags.StringVarP(&f.format, "format", "f", "", "of lines: "+input.Formats)
	flags.BoolVar(&f.internalKeys, "internal-keys", false, "lines have sequence number and kind, and make a database's table")
	flags.StringVar(&f.onDuplicate, "on-duplicate", "error", "what to do if a key comes twice: error, or keep the first or the last pair")
	flags.BoolVar(&f.sorted, "sorted", false, "the pairs are in order: do not sort them, and fail if they are not")
	f.memoryFlags.add(cmd)
	flags.StringVar(&f.tempDir, "temp-dir", "", "where to sort (default: where the system has temporary files)")
	f.writerFlags.add(cmd)
	complete(cmd, "format", "tsv", "json", "hex", "keys", "raw")
	complete(cmd, "on-duplicate", "error", "first", "last")
	cmd.MarkFlagRequired("output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return interruptible(cmd.Context(), func(ctx context.Context) error {
			return f.build(ctx, args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		})
	}
	return cmd
}

func (f *buildFlags) build(ctx context.Context, inputs []string, stdin io.Reader, stdout, stderr io.Writer) error {
	o, err := f.options(f.internalKeys, table.BytewiseComparer)
	if err != nil {
		return err
	}
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
	bounded := &boundedWriter{Writer: w, limit: limit}
	read := &inputReader{paths: inputs, stdin: stdin, options: in, stderr: stderr}
	if f.sorted {
		err = appendSorted(bounded, read.pairs(ctx))
	} else {
		err = f.appendDeduplicated(bounded, sorting.Sort(ctx, read.pairs(ctx), sortOptions(o, limit, f.tempDir)), read)
	}
	if err != nil {
		return err
	}
	return closeAndCommit(w, to)
}

// inputReader is the inputs of build.
type inputReader struct {
	paths   []string
	stdin   io.Reader
	options input.Options
	stderr  io.Writer
	n       int // how many pairs were read
}

// pairs returns the pairs, and shows how far it is.
func (r *inputReader) pairs(ctx context.Context) iter.Seq2[input.Pair, error] {
	bar := progress.Bytes(r.stderr, totalSize(r.paths), "reading")
	r.options.WrapReader = bar.Reader
	r.options.OnLeftOut = func(path string) {
		text.Line(r.stderr, "sst: note: %s is the output, and left out", path)
	}
	pairs := countPairs(input.Read(ctx, r.paths, r.stdin, r.options), &r.n, bar.Done)
	if !r.options.InternalKeys {
		pairs = hintInternalKeys(pairs, r.stderr)
	}
	return pairs
}

// looksLikeVersion is what the rest of a line looks like that wants --internal-keys.
var looksLikeVersion = regexp.MustCompile(`^[0-9]+\t(set|delete)\t`)

// hintInternalKeys says so if the first pair looks like a version of a key.
func hintInternalKeys(pairs iter.Seq2[input.Pair, error], stderr io.Writer) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		first := true
		for pair, err := range pairs {
			if first && looksLikeVersion.Match(pair.Value) {
				text.Line(stderr, "sst: note: the values start with a sequence number and a kind: --internal-keys makes them part of the keys")
			}
			first = false
			if !yield(pair, err) {
				return
			}
		}
	}
}

// countPairs counts pairs in n, and calls done when there are no more.
func countPairs(pairs iter.Seq2[input.Pair, error], n *int, done func()) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		defer done()
		for pair, err := range pairs {
			if *n++; !yield(pair, err) {
				return
			}
		}
	}
}

func (f *buildFlags) check() error {
	switch f.onDuplicate {
	case "error", "first", "last":
		return nil
	}
	return fmt.Errorf("--on-duplicate is %q, want error, first or last", f.onDuplicate)
}

// totalSize is how many bytes the inputs have, or -1 if that is not known.
func totalSize(inputs []string) int64 {
	var n int64
	for _, path := range inputs {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		n += info.Size()
	}
	return n
}

// progressEvery is after how many entries a loop shows how far it is.
const progressEvery = 1 << 12

func appendSorted(w *boundedWriter, pairs iter.Seq2[input.Pair, error]) error {
	for pair, err := range pairs {
		if err == nil {
			err = w.Append(pair.Key, pair.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendDeduplicated appends the sorted records of what was read, one of each key.
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
			return fmt.Errorf("key %s is there twice, in pairs %d and %d of the input: see --on-duplicate", wire.Quote(r.Key), before.Number+1, r.Number+1)
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
		text.Line(read.stderr, "sst: note: left out %s of keys that came twice", count(uint64(dropped), "pair"))
	}
	return nil
}
