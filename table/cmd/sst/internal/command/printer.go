package command

import (
	"encoding/hex"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A printer prints entries, one per line, as columns separated by tabs or as a text.JSONEntry. It does without
// encoding/json, which would take most of the time of a scan.
type printer struct {
	fields
	w      io.Writer
	encode func(dst, b []byte) []byte // for columns; nil: lines are JSON objects
	line   []byte
	last   []byte // with location: the last printed key; nil: none
	n      int    // number of entries printed or counted
}

// fields says which fields of an entry are printed besides its key.
type fields struct {
	none                       bool // entries are only counted
	versions, values, location bool

	onlyValue bool // the value is printed, and nothing else

	same      func(a, b []byte) bool // with location: whether two keys are equal
	unordered bool                   // with location: versions of a key can be anywhere, so states are unknown
}

// formats are the formats of get, scan and diff.
var formats = map[string]func(dst, b []byte) []byte{"tsv": printable.AppendEscape, "hex": hex.AppendEncode, "json": nil}

func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().VarP(cli.Choice(format, "tsv", "tsv", "json", "hex"), "format", "f", "output format: tsv, json or hex")
}

func newPrinter(w io.Writer, format string, s fields) *printer {
	return &printer{w: w, encode: formats[format], fields: s}
}

func (p *printer) print(e source.Entry) error {
	p.n++
	if p.none {
		return nil
	}
	if err := memory.CheckPrint(e.Key, e.Value); err != nil {
		return err
	}
	if !p.onlyValue {
		p.bytes("key", e.Key)
	}
	if p.versions {
		p.number("sequence", e.Sequence)
		p.word("kind", text.KindName(e.Kind))
	}
	if p.values || p.onlyValue {
		p.bytes("value", e.Value)
	}
	if p.location {
		p.place(e)
	}
	return p.end()
}

// place appends an entry's location, and whether it is live. If no MANIFEST lists the file, the level is unknown.
// JSON leaves out unknown fields.
func (p *printer) place(e source.Entry) {
	file := e.Log
	if e.Table != nil {
		file = e.Table.Path
	}
	if file = filepath.Base(file); p.encode == nil {
		p.word("file", file)
	} else {
		p.line = printable.AppendEscape(append(p.line, '\t'), []byte(file))
	}
	if e.Table != nil && e.Table.Meta != nil {
		p.number("level", uint64(e.Table.Meta.Level))
	} else if p.encode != nil {
		p.word("level", "-")
	}
	p.number("offset", e.Offset)
	switch {
	case p.unordered && p.encode != nil:
		p.word("state", "-")
	case p.unordered:
	case p.last != nil && p.same(e.Key, p.last):
		p.word("state", "shadowed")
	case e.Kind == internalkey.Delete:
		p.word("state", "deletion")
	default:
		p.word("state", "live")
	}
	p.last = format.AppendNotNil(p.last[:0], e.Key)
}

// bytes appends a key or a value.
func (p *printer) bytes(name string, b []byte) {
	if p.encode == nil {
		p.line = printable.AppendJSONBytes(append(p.line, ','), name, b)
	} else {
		p.line = p.encode(append(p.line, '\t'), b)
	}
}

// begin starts a column, or a JSON field other than bytes.
func (p *printer) begin(name string) {
	if p.encode == nil {
		p.line = append(append(append(p.line, `,"`...), name...), `":`...)
	} else {
		p.line = append(p.line, '\t')
	}
}

// word appends a word, which needs no escapes in columns.
func (p *printer) word(name, s string) {
	if p.begin(name); p.encode == nil {
		p.line = printable.AppendJSONString(p.line, s)
	} else {
		p.line = append(p.line, s...)
	}
}

func (p *printer) number(name string, n uint64) {
	p.begin(name)
	p.line = strconv.AppendUint(p.line, n, 10)
}

// end writes the line, without the separator before its first field.
func (p *printer) end() error {
	start := 1
	if p.encode == nil {
		start, p.line[0] = 0, '{'
		p.line = append(p.line, '}') // not in the same assignment: it can move the line
	}
	p.line = append(p.line, '\n')
	_, err := p.w.Write(p.line[start:])
	p.line = p.line[:0]
	return err
}
