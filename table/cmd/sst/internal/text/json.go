package text

import (
	"bytes"
	"encoding/json"
	"io"
)

// AppendJSON appends v as JSON on one line. Characters that are not printable are escaped.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return inJSON.append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// AppendJSONString is AppendJSON of a string.
func AppendJSONString(dst []byte, s string) []byte {
	return append(jsonString.append(append(dst, '"'), []byte(s)), '"')
}

// WriteJSON writes v as indented JSON, with the escapes of AppendJSON.
func WriteJSON(w io.Writer, v any) error {
	line, err := AppendJSON(nil, v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = b.WriteTo(w)
	return err
}
