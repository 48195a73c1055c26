package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
	"github.com/sievetable/sievetable/table/set"
)

// A build is a run of build or merge, with flags that are checked.
type build struct {
	*buildFlags
	ctx       context.Context
	options   *table.WriterOptions
	userOrder table.Comparer // that of user keys
	limit     memory.Limit
	inputs    []string
	read      *inputReader
	stdout    io.Writer
	good      keyList                // of --never; without a table: none
	removed   keyList                // of --delete; without a table: none
	fill      func(w appender) error // appends all pairs
	sequence  uint64                 // a database goes on behind this sequence number
}

// newBuild checks flags and inputs.
func (f *buildFlags) newBuild(ctx context.Context, inputs []string, cmd *cobra.Command) (*build, error) {
	if f.out == "" && f.layerOf == "" {
		return nil, f.missingOut()
	}
	order, err := f.order()
	if err != nil {
		return nil, err
	}
	o, err := f.options(f.internalKeys, order)
	if err != nil {
		return nil, err
	}
	if o.FilterOnly = f.filterOnly; f.internalKeys && !f.filterOnly && !f.database {
		noteNotRepaired(cmd.ErrOrStderr(), f.compression)
	}
	if err := f.sizeFilter(o, cmd.ErrOrStderr()); err != nil {
		return nil, err
	}
	limit, err := f.limit()
	if err != nil {
		return nil, err
	}
	if err := limitWriter(limit, o); err != nil {
		return nil, err
	}
	if len(inputs) == 0 && f.delete == "" {
		inputs = []string{"-"}
	}
	b := &build{buildFlags: f, ctx: ctx, options: o, limit: limit, inputs: inputs, stdout: cmd.OutOrStdout(), userOrder: order}
	b.fill = b.appendPairs
	b.read = &inputReader{paths: inputs, stdin: cmd.InOrStdin(), stderr: cmd.ErrOrStderr()}
	b.read.options = input.Options{Format: f.format, InternalKeys: f.internalKeys, WholeLines: f.sorted && !f.noFinalNewline, Memory: limit}
	return b, cmp.Or(f.check(), b.checkNever(), b.checkList("--delete", f.delete))
}

// write writes what OUT is.
func (b *build) write(given func(name string) bool) error {
	switch {
	case b.database:
		return b.writeDatabase()
	case b.layerOf != "", b.isSet(given):
		return b.writeSet()
	}
	return b.table()
}

// checkInputs checks the inputs. None may be one of the outputs.
func (b *build) checkInputs(outputs ...string) error {
	in := &b.read.options
	for _, name := range outputs {
		in.Outputs = append(in.Outputs, output.FilesOf(b.stdout, name)...)
	}
	inputs := slices.Clip(b.inputs)
	for _, list := range []string{b.never, b.delete} {
		if list != "" {
			inputs = append(inputs, list)
		}
	}
	return in.Check(inputs, b.read.stdin)
}

// table builds a table.
func (b *build) table() error {
	if info, err := os.Stat(b.out); err == nil && info.IsDir() {
		return cli.UsageErrorf("-o is %s, a directory: name a file for the table, or a new directory, by NEW/ for a set or with --database", b.out)
	}
	if err := b.checkInputs(b.out, b.summary); err != nil {
		return err
	}
	if err := b.checkSummary(); err != nil {
		return err
	}
	if err := b.readNever(); err != nil {
		return err
	}
	to, err := output.Create(b.ctx, b.out, b.stdout)
	if err != nil {
		return err
	}
	if b.summary != "" {
		return b.tableAndSummary(to)
	}
	return explainTooManyKeys(writeTable(to, b.options, func(w *table.Writer) (bool, error) { return true, b.appendAll(b.bounded(w), to) }))
}

// tableAndSummary builds a table, and writes its summary. Neither gets its name before both are
// on disk.
func (b *build) tableAndSummary(to *output.Output) error {
	defer to.Abort() // does nothing after Commit
	summary, err := output.Create(b.ctx, b.summary, b.stdout)
	if err != nil {
		return err
	}
	defer summary.Abort() // does nothing after Commit
	w, err := set.NewTableWriter(to, b.options)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if err := b.appendAll(b.bounded(w), to, summary); err != nil {
		return err
	}
	t, err := w.Close()
	if err != nil {
		return explainTooManyKeys(err)
	}
	if err := writeSummary(summary, b.out, t); err != nil {
		return err
	}
	return output.Commit(to, summary)
}

// appendAll appends all pairs to w. Temporary files of the outputs are no input.
func (b *build) appendAll(w appender, outputs ...*output.Output) error {
	for _, o := range outputs {
		temporary, err := o.Temporary()
		if err != nil {
			return err
		}
		b.read.options.Temporary = append(b.read.options.Temporary, temporary...)
	}
	return explainTooManyKeys(b.fill(w))
}

// appendPairs appends the pairs of the inputs to w.
func (b *build) appendPairs(w appender) (err error) {
	pairs := &pairFilter{appender: w, filterOnly: b.filterOnly, unique: b.filterOnly && b.sorted && b.onDuplicate != "error"}
	if b.onDuplicate == "count" {
		counter := &keyCounter{appender: w, compare: b.options.Comparer.Compare}
		if err = b.appendInOrder(counter); err == nil {
			err = counter.finish(b.read.stderr)
		}
	} else if err = b.appendInOrder(pairs); err == nil {
		pairs.noteLeftOut(b.read.stderr)
	}
	return err
}

// appendInOrder appends all pairs to w, in the order of their keys.
func (b *build) appendInOrder(w appender) error {
	if b.sorted {
		return b.read.appendSorted(w, b.read.pairs(b.ctx))
	}
	sorted := sorting.Sort(b.ctx, b.read.pairs(b.ctx), sortOptions(b.options, b.limit, b.tempDir))
	return b.appendDeduplicated(w, sorted, b.read)
}

// explainTooManyKeys says what to do if err is that a filter has too many keys.
func explainTooManyKeys(err error) error {
	if errors.Is(err, fuse.ErrTooManyKeys) {
		return fmt.Errorf("more than %s keys in one fuse filter: build several tables by --entries-per-table, or use --table-filter table-bloom:BITS", humanize.Comma(fuse.MaxKeys))
	}
	return err
}
