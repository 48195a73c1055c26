package wire

import (
	"bytes"
	"testing"
)

func TestSharedLen(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		a := bytes.Repeat([]byte("x"), n)
		for m := range 40 {
			if got, want := SharedLen(a, bytes.Repeat([]byte("x"), m)), min(n, m); got != want {
				t.Errorf("%d and %d equal bytes share %d, want %d", n, m, got, want)
			}
		}
		for i := range n {
			b := bytes.Clone(a)
			b[i] ^= 0x80
			if got := SharedLen(a, b); got != i {
				t.Errorf("%d bytes that differ at %d share %d", n, i, got)
			}
		}
	}
}

func TestFirst8(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key  string
		want uint64
	}{
		{"", 0},
		{"\x01", 0x01 << 56},
		{"\x01\x02\x03\x04\x05\x06\x07", 0x0102030405060700},
		{"\x01\x02\x03\x04\x05\x06\x07\x08", 0x0102030405060708},
		{"\xff\x02\x03\x04\x05\x06\x07\x08\x09", 0xff02030405060708},
	} {
		if got := First8([]byte(tt.key)); got != tt.want {
			t.Errorf("First8(%q) = %#x, want %#x", tt.key, got, tt.want)
		}
	}
}
