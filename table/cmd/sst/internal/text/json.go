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

// AppendJSON appends v as JSON on one line. Characters that are not printable are escaped.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	encoded := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	for {
		n := 0
		for n < len(encoded) && encoded[n] >= ' ' && encoded[n] <= '~' {
			n++
		}
		dst = append(dst, encoded[:n]...)
		if n == len(encoded) {
			return dst, nil
		}
		r, size := utf8.DecodeRune(encoded[n:])
		dst = appendJSONRune(dst, r, encoded[n:n+size])
		encoded = encoded[n+size:]
	}
}

// appendJSONRune appends r, whose UTF-8 is char, or escapes of its UTF-16 code units.
func appendJSONRune(dst []byte, r rune, char []byte) []byte {
	if strconv.IsPrint(r) {
		return append(dst, char...)
	}
	var units [2]uint16
	for _, unit := range utf16.AppendRune(units[:0], r) {
		dst = fmt.Appendf(dst, `\u%04x`, unit)
	}
	return dst
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
