package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// printer prints entries, a line each.
type printer struct {
	w        io.Writer
	append   func(line []byte, e source.Entry, versions bool) ([]byte, error)
	versions bool // with sequence number and kind
	line     []byte
}

// The formats of get and scan.
var formats = map[string]func([]byte, source.Entry, bool) ([]byte, error){
	"tsv":  columns(text.AppendEscape),
	"hex":  columns(hex.AppendEncode),
	"json": appendJSON,
}

func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVarP(format, "format", "f", "tsv", "tsv: text with escapes such as \\t and \\xff; json: an object a line; hex")
}

func newPrinter(w io.Writer, format string, versions bool) (*printer, error) {
	f := formats[format]
	if f == nil {
		return nil, fmt.Errorf("--format is %q, want tsv, json or hex", format)
	}
	return &printer{w: w, append: f, versions: versions}, nil
}

func (p *printer) print(e source.Entry) (err error) {
	if p.line, err = p.append(p.line[:0], e, p.versions); err != nil {
		return err
	}
	p.line = append(p.line, '\n')
	_, err = p.w.Write(p.line)
	return err
}

// columns returns what appends key, sequence number and kind if they are wanted, and
// value, with tabs between them.
func columns(encode func(dst, b []byte) []byte) func([]byte, source.Entry, bool) ([]byte, error) {
	return func(line []byte, e source.Entry, versions bool) ([]byte, error) {
		line = append(encode(line, e.Key), '\t')
		if versions {
			line = append(strconv.AppendUint(line, e.Sequence, 10), '\t')
			line = append(append(line, text.KindName(e.Kind)...), '\t')
		}
		return encode(line, e.Value), nil
	}
}

func appendJSON(line []byte, e source.Entry, versions bool) ([]byte, error) {
	var o text.Object
	o.Key, o.KeyBase64 = text.StringOrBytes(e.Key)
	o.Value, o.ValueBase64 = text.StringOrBytes(e.Value)
	if versions {
		o.Sequence, o.Kind = &e.Sequence, text.KindName(e.Kind)
	}
	out, err := json.Marshal(o)
	return append(line, out...), err
}
