// Package text writes keys, values and messages as printable lines, in the form of sst.
package text

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// Replacers of what a Go string has between its quotes. unquoted leaves an escaped backslash as it is.
var (
	unquoted  = strings.NewReplacer(`\\`, `\\`, `\"`, `"`)
	printable = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
)

// Escape returns b as one line of text with the escapes of Go strings.
func Escape(b []byte) string { return unquoted.Replace(inQuotes(string(b))) }

// Printable returns s as one line. A backslash stays a backslash, so the result cannot be decoded.
func Printable(s string) string { return printable.Replace(inQuotes(s)) }

// inQuotes returns what a Go string has between its quotes.
func inQuotes(s string) string {
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// Unescape reverses Escape. What is no escape stands for itself.
func Unescape(s string) ([]byte, error) {
	var b []byte
	for s != "" {
		before, _, found := strings.Cut(s, `\`)
		b, s = append(b, before...), s[len(before):]
		if !found {
			break
		}
		r, multibyte, rest, err := strconv.UnquoteChar(s, '"')
		switch {
		case err != nil:
			return nil, fmt.Errorf(`no such escape: %.10s (a backslash is \\)`, s)
		case multibyte:
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, byte(r))
		}
		s = rest
	}
	return b, nil
}

// Line prints one line, after Printable.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, Printable(fmt.Sprintf(format, args...)))
}

// Row prints a line of two columns for a tabwriter, each after Printable.
func Row(w io.Writer, name, format string, args ...any) {
	fmt.Fprintln(w, Printable(name)+"\t"+Printable(fmt.Sprintf(format, args...)))
}

// Lines returns the lines of an error's message: joined errors have one each.
func Lines(err error) (all []string) {
	for line := range bytes.Lines([]byte(err.Error())) {
		all = append(all, string(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return all
}

// Count formats n and what is counted.
func Count[N int | int64 | uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

// Bytes formats a number of bytes with a unit.
func Bytes(n int64) string {
	if n < 1000 {
		return Count(n, "byte")
	}
	return humanize.Bytes(uint64(n))
}
