// Package text writes messages and numbers as printable lines, in the form of sst.
package text

import (
	"bytes"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/printable"
)

// Line prints one line, after printable.String.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, printable.String(fmt.Sprintf(format, args...)))
}

// Row prints a line of two columns for a tabwriter, each after printable.String.
func Row(w io.Writer, name, format string, args ...any) {
	fmt.Fprintln(w, printable.String(name)+"\t"+printable.String(fmt.Sprintf(format, args...)))
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
	return humanize.Bytes(figures.RoundToUnit(uint64(n)))
}
