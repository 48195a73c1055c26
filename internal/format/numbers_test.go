package format

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
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

func TestFirst8OrdersAsTheBytes(t *testing.T) {
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

func TestCountLess(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(30, 1))
	for n := range 200 {
		numbers := make([]uint32, n)
		for i := range numbers {
			numbers[i] = rng.Uint32N(uint32(1 + rng.IntN(2*n))) // some are equal
		}
		slices.Sort(numbers)
		for _, x := range append(numbers, 0, uint32(n), math.MaxUint32) {
			want := sort.Search(n, func(i int) bool { return numbers[i] >= x })
			if got := CountLess(numbers, x); got != want {
				t.Fatalf("CountLess(%v, %d) = %d, want %d", numbers, x, got, want)
			}
			if n != 32 {
				continue
			}
			if got := CountLess32((*[32]uint32)(numbers), x); got != want {
				t.Fatalf("CountLess32(%v, %d) = %d, want %d", numbers, x, got, want)
			}
		}
	}
}
