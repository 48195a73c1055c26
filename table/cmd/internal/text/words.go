package text

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/printable"
)

// OneOf lists words of which one is wanted, as in "auto, yes or no".
func OneOf(words ...string) string { return english.WordSeries(words, "or") }

// Count formats n and what is counted.
func Count(n uint64, what string) string { return english.Plural(int(n), what, "") }

// Bytes formats a number of bytes with a unit.
func Bytes(n uint64) string {
	if n < 1000 {
		return Count(n, "byte")
	}
	return humanize.Bytes(figures.RoundToUnit(n))
}

// plainCharacters are those that no shell takes for more than text.
const plainCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

// ShellWord returns s as one printable word of a shell command.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, plainCharacters) == "" {
		return s
	}
	if s == printable.String(s) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(s) {
		if c == '\'' || c == '\\' || c < ' ' || c > '~' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}

// ShellPath returns a path as a word that no command takes for a flag.
func ShellPath(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return ShellWord(path)
}
