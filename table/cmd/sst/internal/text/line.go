package text

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// Line prints one line, after Printable. w remembers its error.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, Printable(fmt.Sprintf(format, args...)))
}

// Row prints a line of two columns for a tabwriter, after Printable.
func Row(w io.Writer, name, format string, args ...any) {
	Cells(w, name, fmt.Sprintf(format, args...))
}

// Cells prints a line of columns for a tabwriter, each after Printable.
func Cells(w io.Writer, cells ...string) {
	printable := make([]string, len(cells))
	for i, cell := range cells {
		printable[i] = Printable(cell)
	}
	io.WriteString(w, strings.Join(printable, "\t")+"\n")
}

// message returns the message of an error, with a name in quotes if it starts or ends with a
// space.
func message(err error) string {
	s := err.Error()
	if p := new(fs.PathError); errors.As(err, &p) && strings.TrimSpace(p.Path) != p.Path {
		quoted := fs.PathError{Op: p.Op, Path: strconv.Quote(p.Path), Err: p.Err}
		s = strings.Replace(s, p.Error(), quoted.Error(), 1)
	}
	return Printable(s)
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
		lines[i] = Printable(before) + lines[i] + Printable(after)
	}
	return lines
}
