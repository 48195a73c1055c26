package command

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/layout"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

const layoutLong = `List what a file consists of, in file order, with offsets and lengths in bytes.

A table consists of data blocks, filters, properties, metaindex, index and footer. For each
block, sst prints its length as stored, its compression, its uncompressed length, the
number of its entries and of its restart points, and its first and last key. The length
leaves out the 5 bytes of compression id and checksum that follow each block. A gap is a
range of bytes that belongs to no block.

If the footer or the index cannot be read, sst finds blocks by their checksums. It reads
the whole file into memory for this, if the file has at most 128 MiB. If the metaindex
cannot be read, filters and properties are shown as gaps.

A write-ahead log, such as 000003.log, consists of batches. For each batch, sst prints the
sequence number of its first write, and the number of writes. A MANIFEST consists of
version edits, and sst prints the fields of each. Other records in the format of logs, such as
those of a Firestore export, are shown up to 64 bytes, and with --json whole. An incomplete record
at the end is shown as cut short, and is not damage.

Keys are shown up to 64 bytes. --json prints whole keys. The exit status is 3 if anything
is damaged. The damage is shown in its place, and the rest of the file is listed too.`

func layoutCommand() *cobra.Command {
	var flags sourceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "layout [flags] FILE",
		Short: "List the parts of a table, a log or a MANIFEST, from first to last byte",
		Long:  layoutLong,
		Example: `  sst layout users.ldb
  sst layout --json users.ldb | jq 'select(.damage)'
  sst layout /var/lib/app/db/MANIFEST-000004`,
		Annotations:       exitStatus{exitDamaged: "FILE is damaged"}.annotation(),
		Args:              cli.Arguments("FILE", 1, 1, 1),
		ValidArgsFunction: cli.Files(1, slices.Concat(tableNames, []string{"*.log", "MANIFEST-*"})...),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line, with whole keys")
	flags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory, want one of its tables, logs or MANIFESTs", args[0])
		}
		o, err := flags.options()
		if err != nil {
			return err
		}
		kind, err := source.FileKindOf(args[0], o)
		if err != nil {
			return err
		}
		if kind == source.LogFile || kind == source.ManifestFile || kind == source.RecordFile {
			return layoutOfLog(cmd.OutOrStdout(), args[0], kind, asJSON)
		}
		return layoutOfTable(cmd, args[0], o, asJSON)
	}
	return cmd
}

func layoutOfTable(cmd *cobra.Command, path string, o source.Options, asJSON bool) (err error) {
	f, err := source.OpenDamaged(path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	t, err := layout.Of(f, o.InternalKeys)
	if err != nil {
		return err
	}
	for _, note := range t.Notes {
		text.Line(cmd.ErrOrStderr(), "sst: note: %s", note)
	}
	w := widthOf(f.Size)
	p := rowPrinter[layout.Row]{
		out: cmd.OutOrStdout(), asJSON: asJSON, files: []string{path},
		head:   fmt.Sprintf("%*s  %*s  %-19s  %-11s  %9s  %7s  %8s  %-5s", w, "offset", w, "bytes", "kind", "compression", "raw", "entries", "restarts", "check"),
		line:   func(r layout.Row) string { return rowText(r, w) },
		damage: func(r layout.Row) string { return r.Damage },
	}
	return p.print(t.Rows())
}

// layoutOfLog prints the layout of a log or a MANIFEST.
func layoutOfLog(out io.Writer, path string, kind source.FileKind, asJSON bool) error {
	f, info, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	w := widthOf(info.Size())
	if kind == source.ManifestFile {
		p := rowPrinter[layout.Edit]{
			out: out, asJSON: asJSON, head: fmt.Sprintf("%*s  %*s  %4s", w, "offset", w, "bytes", "edit"),
			line:   func(e layout.Edit) string { return editText(e, w) },
			damage: func(e layout.Edit) string { return e.Damage },
		}
		return p.print(layout.Manifest(f, info.Size()))
	}
	p := rowPrinter[layout.Record]{
		out: out, asJSON: asJSON, head: fmt.Sprintf("%*s  %*s  %-9s  %12s  %7s", w, "offset", w, "bytes", "kind", "sequence", "writes"),
		line:   func(r layout.Record) string { return recordText(r, w) },
		damage: func(r layout.Record) string { return r.Damage },
	}
	if kind == source.RecordFile {
		return p.print(layout.Records(f, info.Size()))
	}
	return p.print(layout.Log(f, info.Size()))
}

// A rowPrinter prints rows as lines of columns, or as JSON objects.
type rowPrinter[R any] struct {
	out    io.Writer
	asJSON bool
	head   string
	line   func(R) string
	damage func(R) string
	files  []string // the tables that sst salvage can read if they are damaged
}

func (p *rowPrinter[R]) print(rows iter.Seq2[R, error]) error {
	if !p.asJSON {
		text.Line(p.out, "%s", p.head)
	}
	var failed []error
	damaged := false
	for r, err := range rows {
		if err != nil {
			failed = append(failed, err)
		}
		damaged = damaged || err == nil && p.damage(r) != ""
		if !p.asJSON {
			text.Line(p.out, "%s", strings.TrimRight(p.line(r), " "))
			continue
		}
		line, err := printable.AppendJSON(nil, r)
		if err == nil {
			_, err = p.out.Write(append(line, '\n'))
		}
		if err != nil {
			return err
		}
	}
	if damaged {
		failed = append(failed, damageReported{files: p.files})
	}
	return errors.Join(failed...)
}

// widthOf returns the width of a column of offsets.
func widthOf(size int64) int { return max(len("offset"), len(fmt.Sprint(size))) }

func rowText(r layout.Row, w int) string {
	raw, entries, restarts := "", "", ""
	if r.Raw > 0 {
		raw = fmt.Sprint(r.Raw)
	}
	if r.Entries != nil {
		entries, restarts = fmt.Sprint(r.Count), fmt.Sprint(r.Restarts)
	}
	return fmt.Sprintf("%*d  %*d  %-19s  %-11s  %9s  %7s  %8s  %-5s  %s", w, r.Offset, w, r.Bytes, r.Kind, r.Compression, raw, entries, restarts, r.Check, aboutRow(r))
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

func recordText(r layout.Record, w int) string {
	sequence, writes, about := "", "", ""
	if r.Batch != nil {
		sequence, writes = fmt.Sprint(r.Sequence), fmt.Sprint(r.Writes)
	}
	switch {
	case r.Damage != "":
		about = "damaged: " + r.Damage
	case r.Value != nil || r.ValueBase64 != nil:
		about = wire.Quote(r.Contents())
	}
	return fmt.Sprintf("%*d  %*d  %-9s  %12s  %7s  %s", w, r.Offset, w, r.Bytes, r.Kind, sequence, writes, about)
}

func editText(e layout.Edit, w int) string {
	number, words := "", e.Kind
	if e.Edit != nil {
		number, words = fmt.Sprint(*e.Edit), "empty"
	}
	if e.Field != nil {
		words = e.Field.String()
	}
	if e.Damage != "" {
		words = "damaged: " + e.Damage
	}
	return fmt.Sprintf("%*d  %*d  %4s  %s", w, e.Offset, w, e.Bytes, number, words)
}
