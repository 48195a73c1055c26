package command

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/layout"
)

const layoutLong = `List the parts of a file in file order, with offsets and lengths in bytes: a table's blocks, a
log's batches, the fields of a MANIFEST's edits, or records in LevelDB's log format. Blocks have
their stored length without the 5-byte trailer, compression, uncompressed length, entries, restart
points, and first and last key. Damage is shown in its place. Without a readable index, blocks are
found by their checksums in files of at most 128 MiB.`

func layoutCommand() *cobra.Command {
	var flags sourceFlags
	var asJSON bool
	cmd := &cobra.Command{
		SuggestFor: []string{"inspect"},
		Use:        "layout [flags] FILE",
		Short:      "List the parts of a table, a log or a MANIFEST",
		Long:       layoutLong,
		Example: `  sst layout users.ldb
  sst layout --json users.ldb | jq 'select(.damage)'
  sst layout /var/lib/app/db/MANIFEST-000004`,
		Annotations:       cli.ExitStatus{cli.ExitDamaged: "FILE is damaged"}.Annotation(),
		Args:              cli.Arguments("FILE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, slices.Concat(tableNames, []string{"*.log", "MANIFEST-*"})...),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON objects, with keys of more than 64 bytes whole")
	flags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory, want one of its tables, logs or MANIFESTs", args[0])
		}
		p, err := flags.newPass(cmd, asJSON)
		if err != nil {
			return err
		}
		return p.layout(args[0])
	}
	return cmd
}

// layout prints the layout of a file.
func (p *pass) layout(path string) (err error) {
	kind, err := dbfile.FileKindOf(path, p.options.Options)
	if err != nil {
		return err
	}
	if columns := logColumns[kind]; columns != nil {
		f, err := dbfile.OpenRegular(path, p.options.Outputs)
		if err != nil {
			return err
		}
		defer f.Close() // it was only read
		return p.printLayout(columns.of(f.Size), layout.OfLog(f.Src, f.Size, kind))
	}
	f, err := dbfile.OpenDamaged(path, p.options.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	t, err := layout.Of(f, p.options.InternalKeys)
	if err != nil {
		return err
	}
	p.note(t.Notes...)
	return p.printLayout(tableColumns.of(f.Size), t.Rows(), path)
}

// columns are the columns of a layout, before one of any width that has no name.
type columns []struct {
	name  string
	width int // < 0: cells are on the left
}

var (
	tableColumns  = columns{{"kind", -19}, {"compression", -11}, {"raw", 9}, {"entries", 7}, {"restarts", 8}, {"check", -5}}
	recordColumns = columns{{"kind", -9}, {"sequence", 12}, {"writes", 7}}
	logColumns    = map[dbfile.FileKind]columns{
		dbfile.LogFile: recordColumns, dbfile.RecordFile: recordColumns, dbfile.ManifestFile: {{"edit", 4}},
	}
)

// of returns the columns with two before them, for offsets and lengths in a file of this size.
func (c columns) of(size int64) columns {
	w := max(len("offset"), len(fmt.Sprint(size)))
	return append(columns{{"offset", w}, {"bytes", w}}, c...)
}

// line returns a line of cells, by the names of their columns, and of text behind them.
func (c columns) line(cell func(name string) any, about string) string {
	var b strings.Builder
	for _, column := range c {
		b.WriteString(fmt.Sprintf("%*v  ", column.width, cell(column.name)))
	}
	return strings.TrimRight(b.String()+about, " ")
}

// printLayout prints rows as lines of cells, or as JSON objects. repairs are the files that sst repair can read if
// the rows show damage.
func (p *pass) printLayout(c columns, rows iter.Seq2[layout.Row, error], repairs ...string) error {
	if !p.asJSON {
		text.Line(p.out, "%s", c.line(func(name string) any { return name }, ""))
	}
	var failed []error
	damaged := false
	for r, err := range rows {
		failed = append(failed, err)
		damaged = damaged || err == nil && r.Damage != ""
		if !p.asJSON {
			text.Line(p.out, "%s", c.line(func(name string) any { return cell(&r, name) }, r.About()))
		} else if err := text.JSONLine(p.out, r); err != nil {
			return err
		}
	}
	if damaged {
		failed = append(failed, damageReported{files: repairs})
	}
	return errors.Join(failed...)
}

// cell returns what a row has in a column, or "".
func cell(r *layout.Row, column string) any {
	switch {
	case column == "offset":
		return r.Offset
	case column == "bytes":
		return r.Bytes
	case column == "kind":
		return r.Kind
	case column == "compression":
		return r.Compression
	case column == "check":
		return r.Check
	case column == "raw" && r.Raw > 0:
		return r.Raw
	case column == "entries" && r.Entries != nil:
		return r.Count
	case column == "restarts" && r.Entries != nil:
		return r.Restarts
	case column == "sequence" && r.Batch != nil:
		return r.Sequence
	case column == "writes" && r.Batch != nil:
		return r.Writes
	case column == "edit" && r.Edit != nil:
		return *r.Edit
	}
	return ""
}
