// Package text writes messages, numbers and words of a shell as lines of printable text, and what an entry
// is in JSON.
package text

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/printable"
)

// Line prints one line, after printable.String. w remembers its error.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, printable.String(fmt.Sprintf(format, args...)))
}

// Program is the name of the program, which begins each message.
var Program = "sst"

// Say prints a message: the program's name, a colon and the line.
func Say(w io.Writer, format string, args ...any) { Line(w, Program+": "+format, args...) }

// Note prints a message that is no error.
func Note(w io.Writer, format string, args ...any) { Say(w, "note: "+format, args...) }

// Row prints a line of two columns for a tabwriter, after printable.String.
func Row(w io.Writer, name, format string, args ...any) {
	Cells(w, name, fmt.Sprintf(format, args...))
}

// Cells prints a line of columns for a tabwriter, each after printable.String.
func Cells(w io.Writer, cells ...string) {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = printable.String(cell)
	}
	io.WriteString(w, strings.Join(escaped, "\t")+"\n")
}

// message returns the message of an error, with a name in quotes if it starts or ends with a
// space.
func message(err error) string {
	s := err.Error()
	if p := new(fs.PathError); errors.As(err, &p) && strings.TrimSpace(p.Path) != p.Path {
		quoted := fs.PathError{Op: p.Op, Path: strconv.Quote(p.Path), Err: p.Err}
		s = strings.Replace(s, p.Error(), quoted.Error(), 1)
	}
	return printable.String(s)
}

// Lines returns the message of an error. Joined errors have one line each. Text around
// joined errors is repeated in each line.
func Lines(err error) []string {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, Lines(e)...)
		}
		return all
	}
	inner := errors.Unwrap(err)
	if inner == nil {
		return []string{message(err)}
	}
	before, after, ok := strings.Cut(err.Error(), inner.Error())
	lines := Lines(inner)
	if !ok || len(lines) == 1 {
		return []string{message(err)}
	}
	for i := range lines {
		lines[i] = printable.String(before) + lines[i] + printable.String(after)
	}
	return lines
}
