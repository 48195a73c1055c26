package wire

import (
	"fmt"
	"strconv"
)

// maxQuoted is how much of a key a message shows. Keys in a file can be as long
// as the file, and longer where they are compressed.
const maxQuoted = 64

// Quote returns the key that parts make, as errors and all other messages show it:
// quoted, and of a long one only the start and how long it is.
func Quote(parts ...[]byte) string { return string(AppendQuote(nil, parts...)) }

// AppendQuote appends to dst what Quote returns.
func AppendQuote(dst []byte, parts ...[]byte) []byte {
	var buf [maxQuoted]byte
	shown := buf[:0]
	length := 0
	for _, p := range parts {
		shown = append(shown, p[:min(len(p), maxQuoted-len(shown))]...)
		length += len(p)
	}
	dst = strconv.AppendQuote(dst, string(shown))
	if length > maxQuoted {
		dst = fmt.Appendf(dst, "… (%d bytes)", length)
	}
	return dst
}

// Printable returns the name of a file as an error shows it: quoted if it has
// anything that does not print as it is.
func Printable(name string) string {
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
		return quoted
	}
	return name
}
