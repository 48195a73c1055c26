package format

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plainCharacters have no special meaning in any shell.
const plainCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

// ShellWord returns s as one printable word of a shell command.
func ShellWord(s string) string {
	if s != "" && strings.Trim(s, plainCharacters) == "" {
		return s
	}
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
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

// ShellPath returns a path as a shell word that no command mistakes for a flag. On Windows it contains slashes, since
// \ has a meaning in some shells, and only double quotes, since cmd.exe knows no others.
func ShellPath(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	path = filepath.ToSlash(path)
	word := ShellWord(path)
	if runtime.GOOS == "windows" && word != path {
		return strconv.Quote(path)
	}
	return word
}
