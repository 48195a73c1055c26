package command

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/layout"
)

const layoutLong = `List the parts of a file in file order, with offsets and lengths in bytes: the blocks of a table,
the batches of a log, the fields of a MANIFEST's edits, or records in LevelDB's log format. Blocks
have their stored length without the 5 bytes of trailer, compression, uncompressed length, entries,
restart points, and first and last key. Damage is shown in its place. Without a readable index,
blocks are found by their checksums in files of at most 128 MiB.`

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
		kind, err := dbfile.FileKindOf(args[0], p.options.Options)
		if err != nil {
			return err
		}
		if kind == dbfile.LogFile || kind == dbfile.ManifestFile || kind == dbfile.RecordFile {
			return p.layoutOfLog(args[0], kind)
		}
		return p.layoutOfTable(args[0])
	}
	return cmd
}

// layoutOfTable prints the layout of a table.
func (p *pass) layoutOfTable(path string) (err error) {
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
	head := columns{{"kind", -19}, {"compression", -11}, {"raw", 9}, {"entries", 7}, {"restarts", 8}, {"check", -5}}
	return printRows(p, head.of(f.Size), t.Rows(), rowCells, path)
}

// layoutOfLog prints the layout of a log or a MANIFEST.
func (p *pass) layoutOfLog(path string, kind dbfile.FileKind) error {
	f, info, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	size := info.Size()
	if kind == dbfile.ManifestFile {
		return printRows(p, columns{{"edit", 4}}.of(size), layout.Manifest(f, size), editCells)
	}
	rows := layout.Log(f, size)
	if kind == dbfile.RecordFile {
		rows = layout.Records(f, size)
	}
	return printRows(p, columns{{"kind", -9}, {"sequence", 12}, {"writes", 7}}.of(size), rows, recordCells)
}

// columns are the columns of a layout, before one of any width that has no name.
type columns []struct {
	name  string
	width int // < 0: cells are on the left
}

// of returns the columns with two before them, for offsets and lengths in a file of this size.
func (c columns) of(size int64) columns {
	w := max(len("offset"), len(fmt.Sprint(size)))
	return append(columns{{"offset", w}, {"bytes", w}}, c...)
}

// line returns the cells of a row as a line.
func (c columns) line(cells []any) string {
	var b strings.Builder
	for i, column := range c {
		b.WriteString(fmt.Sprintf("%*v  ", column.width, cells[i]))
	}
	if len(cells) > len(c) {
		b.WriteString(fmt.Sprint(cells[len(c)]))
	}
	return strings.TrimRight(b.String(), " ")
}

// printRows prints rows as lines of cells, or as JSON objects. repairs are the files that sst repair can read if
// the rows show damage.
func printRows[R interface{ Problem() string }](p *pass, c columns, rows iter.Seq2[R, error], cells func(R) []any, repairs ...string) error {
	if !p.asJSON {
		var names []any
		for _, column := range c {
			names = append(names, column.name)
		}
		text.Line(p.out, "%s", c.line(names))
	}
	var failed []error
	damaged := false
	for r, err := range rows {
		failed = append(failed, err)
		damaged = damaged || err == nil && r.Problem() != ""
		if !p.asJSON {
			text.Line(p.out, "%s", c.line(cells(r)))
		} else if err := text.JSONLine(p.out, r); err != nil {
			return err
		}
	}
	if damaged {
		failed = append(failed, damageReported{files: repairs})
	}
	return errors.Join(failed...)
}

func rowCells(r layout.Row) []any {
	cells := []any{r.Offset, r.Bytes, r.Kind, r.Compression, "", "", "", r.Check, aboutRow(r)}
	if r.Raw > 0 {
		cells[4] = r.Raw
	}
	if r.Entries != nil {
		cells[5], cells[6] = r.Count, r.Restarts
	}
	return cells
}

// aboutRow returns the text after the figures of a block.
func aboutRow(r layout.Row) string {
	switch {
	case r.Damage != "":
		return r.Damage
	case len(r.Names) > 0:
		return namesText(r.Names)
	case r.Entries == nil || r.First == nil:
		return ""
	case r.Count == 1:
		return r.First.String()
	}
	return fmt.Sprintf("%v to %v", r.First, r.Last)
}

// namesText formats the first names. A block can have very many names in the metaindex.
func namesText(names []string) string {
	const shown, longest = 3, 64
	var all []string
	for _, name := range names[:min(len(names), shown)] {
		if len(name) > longest {
			name = wire.Quote([]byte(name))
		}
		all = append(all, name)
	}
	if more := len(names) - shown; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

func recordCells(r layout.Record) []any {
	cells := []any{r.Offset, r.Bytes, r.Kind, "", "", ""}
	if r.Batch != nil {
		cells[3], cells[4] = r.Sequence, r.Writes
	}
	switch {
	case r.Damage != "":
		cells[5] = "damaged: " + r.Damage
	case r.Value != nil || r.ValueBase64 != nil:
		cells[5] = wire.Quote(r.Contents())
	}
	return cells
}

func editCells(e layout.Edit) []any {
	cells := []any{e.Offset, e.Bytes, "", e.Kind}
	if e.Edit != nil {
		cells[2], cells[3] = *e.Edit, "empty"
	}
	if e.Field != nil {
		cells[3] = e.Field
	}
	if e.Damage != "" {
		cells[3] = "damaged: " + e.Damage
	}
	return cells
}
