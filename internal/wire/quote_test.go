package wire

import (
	"bytes"
	"testing"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("k"), 1000)
	for _, tt := range []struct {
		key  []byte
		want string
	}{
		{nil, `""`},
		{[]byte("a\x00\"b"), `"a\x00\"b"`},
		{long[:64], `"` + string(long[:64]) + `"`},
		{long, `"` + string(long[:64]) + `"… (1000 bytes)`},
	} {
		if got := Quote(tt.key); got != tt.want {
			t.Errorf("Quote of %d bytes = %s, want %s", len(tt.key), got, tt.want)
		}
	}
	if got, want := Quote(long[:50], long[:50]), Quote(long[:100]); got != want {
		t.Errorf("Quote of two parts = %s, want %s", got, want)
	}
}
