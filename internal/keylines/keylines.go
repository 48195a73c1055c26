// Package keylines splits text into lines, and detects its encoding.
package keylines

import (
	"bytes"
	"errors"
)

// Split is like bufio.ScanLines, but keeps carriage returns, which may belong to a key or a value.
func Split(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// mark is the byte order mark of UTF-8, which some programs write at the start of text.
var mark = []byte("\ufeff")

// TrimMark removes the byte order mark from the first line of a text, and reports whether it had one.
func TrimMark(line []byte) (rest []byte, had bool) { return bytes.CutPrefix(line, mark) }

// MarkNote returns the note that a byte order mark is left out.
func MarkNote(name string) string {
	return name + " starts with a UTF-8 byte order mark, which is left out"
}

// ErrUTF16 is the error for UTF-16 text, whose lines cannot be read as keys.
var ErrUTF16 = errors.New("UTF-16 text, not UTF-8: convert it with iconv -f utf-16 -t utf-8")

// An Encoding distinguishes UTF-16 from other text by its first two lines.
type Encoding struct {
	n     int
	begun bool // the first line begins like UTF-16
}

// IsUTF16 reports whether the text is UTF-16, given its next line. UTF-16 starts with a byte order mark, and
// contains a zero byte in each ASCII character, such as the end of the first line.
func (e *Encoding) IsUTF16(line []byte) bool {
	switch e.n++; e.n {
	case 1:
		e.begun = bytes.HasPrefix(line, []byte("\xff\xfe")) || bytes.HasPrefix(line, []byte("\xfe\xff"))
		return e.begun && bytes.IndexByte(line, 0) > 0
	case 2:
		return e.begun && bytes.HasPrefix(line, []byte{0})
	}
	return false
}
