// Package text writes bytes as one line of printable text, and reads them back. Keys, names
// and messages come from files. Printed as they are, they could move the cursor of a
// terminal, reverse the text, or look like lines of their own.
package text

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Printable returns s as one line. Characters that are not printable are escaped as in Go
// strings. A backslash stays a backslash, so the result cannot be decoded.
func Printable(s string) string { return string(appendPrintable(nil, []byte(s), false)) }

// Escape returns b as one line of text with the escapes of Go strings.
func Escape(b []byte) string { return string(AppendEscape(nil, b)) }

// AppendEscape appends Escape of b to dst.
func AppendEscape(dst, b []byte) []byte { return appendPrintable(dst, b, true) }

// appendPrintable escapes everything for which strconv.IsPrint is false and, if reversible,
// the backslash.
func appendPrintable(dst, b []byte, reversible bool) []byte {
	for {
		n := 0
		for n < len(b) && b[n] >= ' ' && b[n] <= '~' && (b[n] != '\\' || !reversible) {
			n++
		}
		dst = append(dst, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			return dst
		}
		r, size := rune(b[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(b)
		}
		switch {
		case size == 1:
			dst = append(dst, escapes[b[0]]...)
		case strconv.IsPrint(r):
			dst = append(dst, b[:size]...)
		default:
			var buf [16]byte
			quoted := strconv.AppendQuoteRune(buf[:0], r)
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
		b = b[size:]
	}
}

// escapes has the escape of each byte that is not part of a longer character.
var escapes = func() (e [256]string) {
	for c := range e {
		quoted := strconv.Quote(string([]byte{byte(c)}))
		e[c] = quoted[1 : len(quoted)-1]
	}
	return e
}()

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
