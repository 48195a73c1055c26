package command

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
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
	read      *input.Reader
	stdout    io.Writer
	good      keyList                // of --never; without a table: none
	removed   keyList                // of --delete; without a table: none
	fill      func(w appender) error // appends all pairs
	sequence  uint64                 // a database goes on behind this sequence number
	copyOf    string                 // the database that a new one is a copy of; "": of none
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
	limit, err := f.Limit()
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
	b.read = &input.Reader{Paths: inputs, Stdin: cmd.InOrStdin(), Stderr: cmd.ErrOrStderr()}
	b.read.Options = input.Options{Format: f.format, InternalKeys: f.internalKeys, WholeLines: f.sorted && !f.noFinalNewline, Memory: limit}
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
	in := &b.read.Options
	for _, name := range outputs {
		in.Outputs = append(in.Outputs, output.FilesOf(b.stdout, name)...)
	}
	inputs := slices.Clip(b.inputs)
	for _, list := range []string{b.never, b.delete} {
		if list != "" {
			inputs = append(inputs, list)
		}
	}
	return in.Check(inputs, b.read.Stdin)
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
	return filterfile.ExplainTooManyKeys(writeTable(to, b.options, func(w *table.Writer) (bool, error) { return true, b.appendAll(b.bounded(w), to) }))
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
		return filterfile.ExplainTooManyKeys(err)
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
		b.read.Options.Temporary = append(b.read.Options.Temporary, temporary...)
	}
	return filterfile.ExplainTooManyKeys(b.fill(w))
}

// appendPairs appends the pairs of the inputs to w.
func (b *build) appendPairs(w appender) (err error) {
	pairs := &pairFilter{appender: w, filterOnly: b.filterOnly, unique: b.filterOnly && b.sorted && b.onDuplicate != "error"}
	if b.onDuplicate == "count" {
		counter := &keyCounter{appender: w, compare: b.options.Comparer.Compare}
		if err = b.appendInOrder(counter); err == nil {
			err = counter.finish(b.read.Stderr)
		}
	} else if err = b.appendInOrder(pairs); err == nil {
		pairs.noteLeftOut(b.read.Stderr)
	}
	return err
}

// appendInOrder appends all pairs to w, in the order of their keys.
func (b *build) appendInOrder(w appender) error {
	if b.sorted {
		return appendSorted(b.read, w, b.read.Pairs(b.ctx))
	}
	sorted := input.Sort(b.ctx, b.read.Pairs(b.ctx), sortOptions(b.options, b.limit, b.tempDir))
	return b.appendDeduplicated(w, sorted, b.read)
}
