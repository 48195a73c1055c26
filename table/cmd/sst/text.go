package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape returns b as one line of text, with the escapes of Go strings.
func escape(b []byte) string {
	quoted := strconv.Quote(string(b))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// unescape is the reverse of escape. What is not an escape stands for itself,
// be it text or not.
func unescape(s string) ([]byte, error) {
	var b []byte
	for s != "" {
		if s[0] != '\\' {
			b, s = append(b, s[0]), s[1:]
			continue
		}
		r, multibyte, tail, err := strconv.UnquoteChar(s, '"')
		if err != nil {
			return nil, fmt.Errorf("key: no such escape: %s (a backslash is \\\\)", s)
		}
		if multibyte {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, byte(r))
		}
		s = tail
	}
	return b, nil
}
