// Package text writes bytes as one line of text, and reads them back.
package text

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Escape returns b as one line of text, with the escapes of Go strings.
func Escape(b []byte) string { return string(AppendEscape(nil, b)) }

// AppendEscape appends Escape of b to dst.
func AppendEscape(dst, b []byte) []byte {
	n := 0
	for n < len(b) && b[n] >= ' ' && b[n] <= '~' && b[n] != '\\' {
		n++
	}
	dst = append(dst, b[:n]...)
	if n == len(b) {
		return dst
	}
	quoted := strconv.AppendQuote(nil, string(b[n:]))
	return append(dst, bytes.ReplaceAll(quoted[1:len(quoted)-1], []byte(`\"`), []byte(`"`))...)
}

// Unescape is the reverse of Escape. What is not an escape stands for itself,
// be it text or not.
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
