package command

import (
	"encoding/hex"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A printer prints entries, one per line.
type printer struct {
	w      io.Writer
	append func(line []byte, e source.Entry, s fields) []byte
	fields fields
	line   []byte
	last   []byte // the last key that was printed; nil: none was
	n      int    // how many were printed or counted
}

// fields says which fields of an entry are printed besides its key.
type fields struct {
	none                       bool // entries are only counted
	versions, values, location bool

	onlyValue bool // the value is printed, and nothing else

	same   func(a, b []byte) bool // with location: whether two keys are equal
	newest bool                   // with location: the entry is the newest version of its key
}

// formats are the formats of get, scan and diff.
var formats = map[string]func([]byte, source.Entry, fields) []byte{
	"tsv":  columnFormat(printable.AppendEscape),
	"hex":  columnFormat(hex.AppendEncode),
	"json": appendJSON,
}

func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVarP(format, "format", "f", "tsv", "output format: tsv, json or hex")
	cli.Complete(cmd, "format", "tsv", "json", "hex")
}

func unknownFormat(format, want string) error {
	return cli.UsageErrorf("--format is %s, want %s", wire.Quote([]byte(format)), want)
}

func newPrinter(w io.Writer, format string, s fields) (*printer, error) {
	f := formats[format]
	if f == nil {
		return nil, unknownFormat(format, "tsv, json or hex")
	}
	return &printer{w: w, append: f, fields: s}, nil
}

func (p *printer) print(e source.Entry) error {
	p.n++
	if p.fields.none {
		return nil
	}
	if err := memory.CheckPrint(e.Key, e.Value); err != nil {
		return err
	}
	if p.fields.location {
		p.fields.newest = p.last == nil || !p.fields.same(e.Key, p.last)
		p.last = wire.AppendNotNil(p.last[:0], e.Key)
	}
	p.line = append(p.append(p.line[:0], e, p.fields), '\n')
	_, err := p.w.Write(p.line)
	return err
}

// columnFormat returns a function that appends the selected fields of an entry as columns
// with tabs in between.
func columnFormat(encode func(dst, b []byte) []byte) func([]byte, source.Entry, fields) []byte {
	return func(line []byte, e source.Entry, s fields) []byte {
		if s.onlyValue {
			return encode(line, e.Value)
		}
		line = encode(line, e.Key)
		if s.versions {
			line = strconv.AppendUint(append(line, '\t'), e.Sequence, 10)
			line = append(append(line, '\t'), text.KindName(e.Kind)...)
		}
		if s.values {
			line = encode(append(line, '\t'), e.Value)
		}
		if s.location {
			file, level := locationOf(e)
			line = append(printable.AppendEscape(append(line, '\t'), []byte(file)), '\t')
			if level != nil {
				line = strconv.AppendInt(line, int64(*level), 10)
			} else {
				line = append(line, '-')
			}
			line = strconv.AppendUint(append(line, '\t'), e.Offset, 10)
			line = append(append(line, '\t'), versionState(e, s.newest)...)
		}
		return line
	}
}

// locationOf returns the name of the file that has the entry, and its level if it is known.
func locationOf(e source.Entry) (file string, level *int) {
	if e.Table == nil {
		return filepath.Base(e.Log), nil
	}
	if m := e.Table.Meta; m != nil {
		level = &m.Level
	}
	return filepath.Base(e.Table.Path), level
}

// versionState returns live, deletion or shadowed.
func versionState(e source.Entry, newest bool) string {
	switch {
	case !newest:
		return "shadowed"
	case e.Kind == table.KindDelete:
		return "deletion"
	}
	return "live"
}

// appendJSON appends a text.JSONEntry. Package encoding/json would take most of the time of a scan.
func appendJSON(line []byte, e source.Entry, s fields) []byte {
	if s.onlyValue {
		return append(printable.AppendJSONBytes(append(line, '{'), "value", e.Value), '}')
	}
	line = printable.AppendJSONBytes(append(line, '{'), "key", e.Key)
	if s.versions {
		line = strconv.AppendUint(append(line, `,"sequence":`...), e.Sequence, 10)
		line = printable.AppendJSONString(append(line, `,"kind":`...), text.KindName(e.Kind))
	}
	if s.values {
		line = printable.AppendJSONBytes(append(line, ','), "value", e.Value)
	}
	if s.location {
		file, level := locationOf(e)
		line = printable.AppendJSONString(append(line, `,"file":`...), file)
		if level != nil {
			line = strconv.AppendInt(append(line, `,"level":`...), int64(*level), 10)
		}
		line = strconv.AppendUint(append(line, `,"offset":`...), e.Offset, 10)
		line = printable.AppendJSONString(append(line, `,"state":`...), versionState(e, s.newest))
	}
	return append(line, '}')
}
