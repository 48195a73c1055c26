package keylines

import (
	"strings"
	"testing"
)

// UTF-16 is detected by its first two lines, and other bytes are not mistaken for it.
func TestEncoding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want int // the line that reveals UTF-16; 0: none
	}{
		{"a\nb\n", 0},
		{"\xff\xfea\x00\n\x00b\x00\n\x00", 1},
		{"\xfe\xff\x00a\x00\n\x00b\x00\n", 1},
		{"\xff\xfe\xe5\x65\n\x00\xe6\x65\n\x00", 2},
		{"\xff\xfea\nb\n", 0},
		{"a\x00\n\x00b\n", 0},
	} {
		var e Encoding
		got := 0
		for i, line := range strings.Split(tt.in, "\n") {
			if e.IsUTF16([]byte(line)) && got == 0 {
				got = i + 1
			}
		}
		if got != tt.want {
			t.Errorf("%q: UTF-16 by line %d, want %d", tt.in, got, tt.want)
		}
	}
}
