// Package printable writes bytes as one line of printable text, and reads them back. Keys, names
// and messages come from files. Printed as they are, they could move the cursor of a
// terminal, reverse the text, or look like lines of their own.
package printable

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// String returns s as one line. Characters that are not printable are escaped as in Go
// strings. A backslash stays a backslash, so the result cannot be decoded.
func String(s string) string { return string(printable.append(nil, []byte(s))) }

// Escape returns b as one line of text with the escapes of Go strings.
func Escape(b []byte) string { return string(AppendEscape(nil, b)) }

// AppendEscape appends Escape of b to dst.
func AppendEscape(dst, b []byte) []byte { return reversible.append(dst, b) }

// Unescape reverses Escape. Everything that is not an escape stands for itself.
func Unescape(s string) ([]byte, error) { return AppendUnescape(nil, []byte(s)) }

// AppendUnescape appends Unescape of b to dst.
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
