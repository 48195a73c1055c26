package text

import (
	"fmt"
	"strings"

	"github.com/sievetable/sievetable/internal/printable"
)

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
