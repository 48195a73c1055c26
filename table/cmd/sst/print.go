package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// printer prints entries, a line each.
type printer struct {
	w      io.Writer
	append func(line []byte, e source.Entry, s shown) ([]byte, error)
	shown  shown
	line   []byte
	last   []byte // the key that was printed last
	any    bool   // one was
}

// shown says what of an entry is printed beside its key.
type shown struct {
	versions, values, where bool

	same   func(a, b []byte) bool // of where: whether keys are the same
	newest bool                   // of where: it is the newest version of its key
}

// The formats of get and scan.
var formats = map[string]func([]byte, source.Entry, shown) ([]byte, error){
	"tsv":  columns(text.AppendEscape),
	"hex":  columns(hex.AppendEncode),
	"json": appendJSON,
}

func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVarP(format, "format", "f", "tsv", "tsv: text with escapes such as \\t and \\xff; json: an object a line; hex")
	complete(cmd, "format", "tsv", "json", "hex")
}

func newPrinter(w io.Writer, format string, s shown) (*printer, error) {
	f := formats[format]
	if f == nil {
		return nil, fmt.Errorf("--format is %q, want tsv, json or hex", format)
	}
	return &printer{w: w, append: f, shown: s}, nil
}

func (p *printer) print(e source.Entry) (err error) {
	if p.shown.where {
		p.shown.newest = !p.any || !p.shown.same(e.Key, p.last)
		p.last, p.any = append(p.last[:0], e.Key...), true
	}
	if p.line, err = p.append(p.line[:0], e, p.shown); err != nil {
		return err
	}
	p.line = append(p.line, '\n')
	_, err = p.w.Write(p.line)
	return err
}

// columns returns what appends key, sequence number and kind, and value, as far as they
// are shown, with tabs between them.
func columns(encode func(dst, b []byte) []byte) func([]byte, source.Entry, shown) ([]byte, error) {
	return func(line []byte, e source.Entry, s shown) ([]byte, error) {
		line = encode(line, e.Key)
		if s.versions {
			line = strconv.AppendUint(append(line, '\t'), e.Sequence, 10)
			line = append(append(line, '\t'), text.KindName(e.Kind)...)
		}
		if s.values {
			line = encode(append(line, '\t'), e.Value)
		}
		if s.where {
			line = appendWhere(line, e, s.newest)
		}
		return line, nil
	}
}

// appendWhere appends file, level, offset and state.
func appendWhere(line []byte, e source.Entry, newest bool) []byte {
	file, level := whereIs(e)
	line = text.AppendEscape(append(line, '\t'), []byte(file))
	line = append(line, "\t-"...)
	if level != nil {
		line = strconv.AppendInt(line[:len(line)-1], int64(*level), 10)
	}
	line = strconv.AppendUint(append(line, '\t'), e.Offset, 10)
	return append(append(line, '\t'), state(e, newest)...)
}

// whereIs returns the name of the file that an entry was found in, and its level, if it
// has one.
func whereIs(e source.Entry) (file string, level *int) {
	if e.Table == nil {
		return filepath.Base(e.Log), nil
	}
	if m := e.Table.Meta; m != nil {
		level = &m.Level
	}
	return filepath.Base(e.Table.Path), level
}

// state says what a version is for lookups.
func state(e source.Entry, newest bool) string {
	switch {
	case !newest:
		return "shadowed"
	case e.Kind == table.KindDelete:
		return "deletion"
	}
	return "live"
}

func appendJSON(line []byte, e source.Entry, s shown) ([]byte, error) {
	var o text.Object
	o.Key, o.KeyBase64 = text.StringOrBytes(e.Key)
	if s.values {
		o.Value, o.ValueBase64 = text.StringOrBytes(e.Value)
	}
	if s.versions {
		o.Sequence, o.Kind = &e.Sequence, text.KindName(e.Kind)
	}
	if s.where {
		o.File, o.Level = whereIs(e)
		o.Offset, o.State = &e.Offset, state(e, s.newest)
	}
	return text.AppendJSON(line, o)
}
