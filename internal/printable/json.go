package printable

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"unicode/utf8"
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

// StringOrBytes returns b as a string if it is UTF-8, or else as bytes. The other result is
// nil.
func StringOrBytes(b []byte) (*string, []byte) {
	if !utf8.Valid(b) {
		return nil, b
	}
	s := string(b)
	return &s, nil
}

// AppendJSONBytes appends a field of a JSON object: b as the field of this name if it is UTF-8, or else in
// base64, as the field of this name and _base64.
func AppendJSONBytes(dst []byte, name string, b []byte) []byte {
	dst = append(append(dst, '"'), name...)
	if utf8.Valid(b) {
		return append(jsonString.append(append(dst, `":"`...), b), '"')
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, `_base64":"`...), b), '"')
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
