package command

import (
	"encoding/hex"
	"io"

	"github.com/sievetable/sievetable/internal/printable"
)

// A printer prints an entry on one line.
type printer func(key, value []byte) error

// A jsonEntry is an entry in JSON. Bytes that are not UTF-8 are base64 in another field.
type jsonEntry struct {
	Key         *string `json:"key,omitempty"`
	KeyBase64   []byte  `json:"key_base64,omitempty"`
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`
}

// newPrinter returns a printer of the format tsv, hex or json, of keys and, if values is set, values.
func newPrinter(out io.Writer, format string, values bool) (printer, error) {
	switch format {
	case "tsv":
		return columns(out, printable.Escape, values), nil
	case "hex":
		return columns(out, hex.EncodeToString, values), nil
	case "json":
		return func(key, value []byte) error {
			var e jsonEntry
			e.Key, e.KeyBase64 = printable.StringOrBytes(key)
			if values {
				e.Value, e.ValueBase64 = printable.StringOrBytes(value)
			}
			return writeJSONLine(out, e)
		}, nil
	}
	return nil, unknownFormat(format, "tsv, json or hex")
}

// columns returns a printer of columns with a tab in between.
func columns(out io.Writer, encode func([]byte) string, values bool) printer {
	return func(key, value []byte) error {
		line := encode(key)
		if values {
			line += "\t" + encode(value)
		}
		return write(out, []byte(line+"\n"))
	}
}

// writeJSONLine writes v as JSON on one line.
func writeJSONLine(out io.Writer, v any) error {
	line, err := printable.AppendJSON(nil, v)
	if err != nil {
		return err
	}
	return write(out, append(line, '\n'))
}

func write(out io.Writer, b []byte) error {
	_, err := out.Write(b)
	return err
}
