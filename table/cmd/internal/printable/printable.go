// Package printable writes bytes as one line of printable text, and reads them back. Keys, names and messages come
// from files. Printed raw, they could move the terminal's cursor, reverse the text, or look like separate lines.
package printable

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// String returns s as one line. Characters that are not printable are escaped as in Go
// strings. A backslash stays a backslash, so the result cannot be decoded.
func String(s string) string { return string(printable.append(nil, []byte(s))) }

// Escape returns b as one line of text with the escapes of Go strings.
func Escape(b []byte) string { return string(AppendEscape(nil, b)) }

// AppendEscape is like Escape, but appends to dst.
func AppendEscape(dst, b []byte) []byte { return reversible.append(dst, b) }

// Unescape reverses Escape. Everything that is not an escape is kept.
func Unescape(s string) ([]byte, error) { return AppendUnescape(nil, []byte(s)) }

// AppendUnescape is like Unescape, but appends to dst.
func AppendUnescape(dst, b []byte) ([]byte, error) {
	for {
		n := bytes.IndexByte(b, '\\')
		if n < 0 {
			return append(dst, b...), nil
		}
		dst = append(dst, b[:n]...)
		rest := string(b[n:min(len(b), n+len(`\U0010ffff`))])
		r, multibyte, tail, err := strconv.UnquoteChar(rest, '"')
		if err != nil {
			return nil, fmt.Errorf("no such escape: %s (a backslash is \\\\)", rest)
		}
		if multibyte {
			dst = utf8.AppendRune(dst, r)
		} else {
			dst = append(dst, byte(r))
		}
		b = b[n+len(rest)-len(tail):]
	}
}

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

// AppendJSONString is AppendJSON for a string.
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

// AppendJSONBytes appends a field of a JSON object: name with b as a string if b is UTF-8, or else name_base64 with
// b in base64.
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
