package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/layout"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

func layoutCommand() *cobra.Command {
	var flags sourceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "layout FILE",
		Short: "List what a table, a log or a MANIFEST consists of, from its first byte to its last",
		Long: `List what a file consists of, in its order, with offsets and lengths in bytes.

Of a table these are its blocks: data, filters, properties, metaindex and index, and its
footer. Each has its length as stored, without the 5 bytes of compression id and checksum
that follow, its compression and its length without that, its entries, its restart points,
and its first and its last key. A gap is bytes that no block accounts for.

Where footer or index cannot be read, blocks are found by their checksums, for which the
file, of up to 128 MiB, is taken into memory. Where the metaindex cannot be, filters and
properties are gaps.

Of a log, as 000003.log, these are its batches: the sequence number of the first write of
each, and how many there are. Of a MANIFEST it is what each edit says. What was being
written last is called cut short, and is no damage.

Keys are shown up to 64 bytes; --json has all of each. The exit status is 3 if anything is
damaged: that is named in its place, and the rest follows.`,
		Example: `  sst layout users.ldb
  sst layout --json users.ldb | jq 'select(.damage)'
  sst layout /var/lib/app/db/MANIFEST-000004`,
		Args: arguments("FILE", 1, 1, 1),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object a line, with whole keys")
	flags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := flags.options()
		if err != nil {
			return err
		}
		kind, err := source.FileKindOf(args[0], o)
		if err != nil {
			return err
		}
		if kind == source.LogFile || kind == source.ManifestFile {
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
	return p.print(layout.Log(f, info.Size()))
}

// rowPrinter prints rows as they come, as lines of columns or as objects.
type rowPrinter[R any] struct {
	out    io.Writer
	asJSON bool
	head   string
	line   func(R) string
	damage func(R) string
	files  []string // that can be salvaged if they are damaged
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
		line, err := text.AppendJSON(nil, r)
		if err == nil {
			_, err = p.out.Write(append(line, '\n'))
		}
		if err != nil {
			return err
		}
	}
	if damaged {
		failed = append(failed, damageReported{p.files})
	}
	return errors.Join(failed...)
}

// widthOf is how wide a column of offsets is.
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

// aboutRow is what is said of a block behind its figures.
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

// namesText has the first of names, of which a metaindex can have very many.
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
	sequence, writes, damage := "", "", ""
	if r.Batch != nil {
		sequence, writes = fmt.Sprint(r.Sequence), fmt.Sprint(r.Writes)
	}
	if r.Damage != "" {
		damage = "damaged: " + r.Damage
	}
	return fmt.Sprintf("%*d  %*d  %-9s  %12s  %7s  %s", w, r.Offset, w, r.Bytes, r.Kind, sequence, writes, damage)
}

func editText(e layout.Edit, w int) string {
	number, words := "", e.Kind
	if e.Edit != nil {
		number, words = fmt.Sprint(*e.Edit), "says nothing"
	}
	if e.Field != nil {
		words = e.Field.String()
	}
	if e.Damage != "" {
		words = "damaged: " + e.Damage
	}
	return fmt.Sprintf("%*d  %*d  %4s  %s", w, e.Offset, w, e.Bytes, number, words)
}
