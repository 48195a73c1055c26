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

// unescape is the reverse of escape.
func unescape(s string) ([]byte, error) {
	var b []byte
	for rest := s; rest != ""; {
		r, multibyte, tail, err := strconv.UnquoteChar(rest, 0)
		if err != nil {
			return nil, fmt.Errorf("key %q: no such escape at %q (a backslash is \\\\)", s, rest)
		}
		if multibyte {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, byte(r))
		}
		rest = tail
	}
	return b, nil
}
