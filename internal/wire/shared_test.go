package wire

import (
	"bytes"
	"testing"
)

func TestSharedLen(t *testing.T) {
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
