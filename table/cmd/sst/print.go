package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
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
			line = append(append(line, kindName(e.Kind)...), '\t')
		}
		return encode(line, e.Value), nil
	}
}

// kindName is what a kind is called. Other engines than LevelDB have more kinds.
func kindName(k table.Kind) string {
	switch k {
	case table.KindSet:
		return "set"
	case table.KindDelete:
		return "delete"
	}
	return strconv.Itoa(int(k))
}

// object is an entry in JSON. What is not UTF-8 is in base64, under another name.
type object struct {
	Key         *string `json:"key,omitempty"`
	KeyBase64   []byte  `json:"key_base64,omitempty"`
	Sequence    *uint64 `json:"sequence,omitempty"`
	Kind        string  `json:"kind,omitempty"`
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`
}

func appendJSON(line []byte, e source.Entry, versions bool) ([]byte, error) {
	var o object
	o.Key, o.KeyBase64 = stringOrBytes(e.Key)
	o.Value, o.ValueBase64 = stringOrBytes(e.Value)
	if versions {
		o.Sequence, o.Kind = &e.Sequence, kindName(e.Kind)
	}
	out, err := json.Marshal(o)
	return append(line, out...), err
}

func stringOrBytes(b []byte) (*string, []byte) {
	if !utf8.Valid(b) {
		return nil, b
	}
	s := string(b)
	return &s, nil
}
