package command

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/layout"
)

const layoutLong = `List the parts of a file in file order, with offsets and lengths in bytes: a table's blocks, a
log's batches, the fields of a MANIFEST's edits, or records in LevelDB's log format. Stored lengths
of blocks are without the 5-byte trailer. Damage is shown in its place. Without a readable index,
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
		if files.IsDir(args[0]) {
			return fmt.Errorf("%s is a directory: name one of its tables, logs or MANIFESTs", args[0])
		}
		p := flags.newPass(cmd, asJSON)
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
	if dbfile.IsLogFile(path, p.options.Options) { // also one that is empty, or whose start is lost
		kind = dbfile.LogFile
	}
	if form, ok := logForms[kind]; ok {
		f, err := dbfile.OpenRegular(path, p.options.Outputs)
		if err != nil {
			return err
		}
		defer f.Close() // it was only read
		return p.printLayout(form, f.Size, layout.OfLog(f.Src, f.Size, kind))
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
	return p.printLayout(tableForm, f.Size, t.Rows(), path)
}

// A layoutForm formats the columns for a kind of file, besides offset, length and text.
type layoutForm struct {
	format string
	heads  []any
	cells  func(r *layout.Row) []any
}

var (
	tableForm = layoutForm{
		"%-19v  %-11v  %9v  %7v  %8v  %-5v", []any{"kind", "compression", "raw", "entries", "restarts", "check"},
		func(r *layout.Row) []any {
			cells := []any{r.Kind, r.Compression, "", "", "", r.Check}
			if r.Raw > 0 {
				cells[2] = r.Raw
			}
			if r.Entries != nil {
				cells[3], cells[4] = r.Count, r.Restarts
			}
			return cells
		},
	}
	recordForm = layoutForm{"%-9v  %12v  %7v", []any{"kind", "sequence", "writes"}, func(r *layout.Row) []any {
		if r.Batch == nil {
			return []any{r.Kind, "", ""}
		}
		return []any{r.Kind, r.Sequence, r.Writes}
	}}
	editForm = layoutForm{"%4v", []any{"edit"}, func(r *layout.Row) []any {
		if r.Edit == nil {
			return []any{""}
		}
		return []any{*r.Edit}
	}}
	logForms = map[dbfile.FileKind]layoutForm{dbfile.LogFile: recordForm, dbfile.RecordFile: recordForm, dbfile.ManifestFile: editForm}
)

// printLayout prints rows as lines of cells, or as JSON objects. repairs are the files that sst repair can read if
// the rows show damage.
func (p *pass) printLayout(form layoutForm, size int64, rows iter.Seq2[layout.Row, error], repairs ...string) error {
	width := max(len("offset"), len(fmt.Sprint(size)))
	line := func(offset, bytes any, cells []any, about string) {
		all := fmt.Sprintf("%*v  %*v  ", width, offset, width, bytes) + fmt.Sprintf(form.format, cells...) + "  " + about
		text.Line(p.out, "%s", strings.TrimRight(all, " "))
	}
	if !p.asJSON {
		line("offset", "bytes", form.heads, "")
	}
	var failed []error
	damaged := false
	for r, err := range rows {
		if err != nil {
			failed = append(failed, err)
		}
		damaged = damaged || err == nil && r.Damage != ""
		if !p.asJSON {
			line(r.Offset, r.Bytes, form.cells(&r), r.About())
		} else if err := text.JSONLine(p.out, r); err != nil {
			return err
		}
	}
	if damaged {
		failed = append(failed, damageReported{files: repairs})
	}
	return errors.Join(failed...)
}
