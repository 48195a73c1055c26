// Package text formats messages, numbers, shell words and JSON entries as printable text.
package text

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Line prints one line, escaped by printable.String. Write errors are left to w.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, printable.String(fmt.Sprintf(format, args...)))
}

// Program is the name of the program, which begins each message.
var Program = "sst"

// Say prints a message: the program's name, a colon and the line.
func Say(w io.Writer, format string, args ...any) { Line(w, Program+": "+format, args...) }

// Note prints a message that is not an error.
func Note(w io.Writer, format string, args ...any) { Say(w, "note: "+format, args...) }

// Row prints a line of two columns for a tabwriter, escaped by printable.String.
func Row(w io.Writer, name, format string, args ...any) {
	Cells(w, name, fmt.Sprintf(format, args...))
}

// Cells prints a line of columns for a tabwriter, each escaped by printable.String.
func Cells(w io.Writer, cells ...string) {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = printable.String(cell)
	}
	io.WriteString(w, strings.Join(escaped, "\t")+"\n")
}

// message returns the message of an error. It quotes a path that starts or ends with a space.
func message(err error) string {
	s := err.Error()
	if p := new(fs.PathError); errors.As(err, &p) && strings.TrimSpace(p.Path) != p.Path {
		quoted := fs.PathError{Op: p.Op, Path: strconv.Quote(p.Path), Err: p.Err}
		s = strings.Replace(s, p.Error(), quoted.Error(), 1)
	}
	return printable.String(s)
}

// Leaves returns the errors that errors.Join has joined, at all depths. Any other error is a single leaf, even if it
// wraps several.
func Leaves(err error) (all []error) {
	if err == nil {
		return nil
	}
	wraps, ok := err.(interface{ Unwrap() []error })
	if !ok || fmt.Sprint(errors.Join(wraps.Unwrap()...)) != err.Error() {
		return []error{err}
	}
	for _, e := range wraps.Unwrap() {
		all = append(all, Leaves(e)...)
	}
	return all
}

// Lines returns the message of an error, with one line for each joined error. Text around joined errors is repeated in
// each line. Equal neighbors become one line: they can come from a file given twice.
func Lines(err error) (all []string) {
	for _, leaf := range Leaves(err) {
		inner := errors.Unwrap(leaf)
		lines := Lines(inner)
		if len(lines) < 2 || !strings.Contains(leaf.Error(), inner.Error()) {
			all = append(all, message(leaf))
			continue
		}
		before, after, _ := strings.Cut(leaf.Error(), inner.Error())
		for _, line := range lines {
			all = append(all, printable.String(before)+line+printable.String(after))
		}
	}
	return slices.Compact(all)
}

// OneOf lists alternatives, as in "auto, yes or no".
func OneOf(words ...string) string { return english.WordSeries(words, "or") }

// Count formats a number of things, as in "1 key" or "2,000 keys".
func Count(n uint64, what string) string { return english.Plural(int(n), what, "") }

// Bytes formats a number of bytes with a unit.
func Bytes(n uint64) string {
	if n < 1000 {
		return Count(n, "byte")
	}
	return humanize.Bytes(figures.RoundToUnit(n))
}

// A JSONEntry is an entry as a JSON object. A key or value that is not UTF-8 is base64 in a field of its own.
type JSONEntry struct {
	Key         *string `json:"key,omitempty"`
	KeyBase64   []byte  `json:"key_base64,omitempty"`
	Sequence    *uint64 `json:"sequence,omitempty"` // of an internal key
	Kind        string  `json:"kind,omitempty"`     // of an internal key
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"value_base64,omitempty"`
	File        string  `json:"file,omitempty"` // where the entry was found
	Level       *int    `json:"level,omitempty"`
	Offset      *uint64 `json:"offset,omitempty"` // offset of the data block, or of the batch in a log
	State       string  `json:"state,omitempty"`
}

// KindName returns the name of a kind. For kinds that only other engines have, it is a number.
func KindName(k internalkey.Kind) string {
	switch k {
	case internalkey.Set:
		return "set"
	case internalkey.Delete:
		return "delete"
	}
	return strconv.Itoa(int(k))
}

// ParseKind reverses KindName.
func ParseKind(name string) (internalkey.Kind, error) {
	switch name {
	case "set":
		return internalkey.Set, nil
	case "delete":
		return internalkey.Delete, nil
	}
	n, err := strconv.ParseUint(name, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("kind %s is not set, delete or a number up to 255", format.Quote([]byte(name)))
	}
	return internalkey.Kind(n), nil
}

// JSONLine writes v as JSON on one line.
func JSONLine(w io.Writer, v any) error {
	line, err := printable.AppendJSON(nil, v)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// A Key is a stored key, which may be an internal key.
type Key struct {
	Stored   []byte
	Internal bool
}

// String returns the key for messages, and only the start of a long key. For an internal key, it returns the user
// key, the sequence number and the kind.
func (k Key) String() string {
	i, ok := internalkey.Parse(k.Stored)
	if !k.Internal || !ok {
		return format.Quote(k.Stored)
	}
	return fmt.Sprintf("%s, sequence %d, %s", format.Quote(i.UserKey), i.Sequence, KindName(i.Kind))
}

// MarshalJSON returns the whole key as a JSONEntry.
func (k Key) MarshalJSON() ([]byte, error) {
	var o JSONEntry
	user := k.Stored
	if i, ok := internalkey.Parse(k.Stored); k.Internal && ok {
		user = i.UserKey
		o.Sequence, o.Kind = &i.Sequence, KindName(i.Kind)
	}
	o.Key, o.KeyBase64 = printable.StringOrBytes(user)
	return printable.AppendJSON(nil, o)
}
