package format

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// maxQuoted is the maximum number of key bytes that a message contains. A key can be as long as its decompressed
// block.
const maxQuoted = 64

// Quote returns a key in quotes, for messages. The parts are concatenated. For a long key it returns the start and
// the length.
func Quote(parts ...[]byte) string { return string(AppendQuote(nil, parts...)) }

// AppendQuote is like Quote, but appends to dst.
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

// Printable returns a file name for messages. The name is quoted if it contains unprintable characters, or a \ that
// does not separate directories.
func Printable(name string) string {
	if slashed := filepath.ToSlash(name); strconv.Quote(slashed) != `"`+slashed+`"` {
		return strconv.Quote(name)
	}
	return name
}

// Plural returns "1 byte" or "2 bytes", for messages.
func Plural(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}
