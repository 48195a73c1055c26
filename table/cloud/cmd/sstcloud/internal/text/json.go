package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// StringOrBytes returns b as a string if it is UTF-8, or else as bytes. The other result is nil.
func StringOrBytes(b []byte) (*string, []byte) {
	if !utf8.Valid(b) {
		return nil, b
	}
	s := string(b)
	return &s, nil
}

// AppendJSON appends v as JSON on one line. Characters that are not printable are escaped.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	for _, r := range string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))) {
		if strconv.IsPrint(r) {
			dst = utf8.AppendRune(dst, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			dst = fmt.Appendf(dst, `\u%04x`, unit)
		}
	}
	return dst, nil
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
