package format

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
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
			wide := [32]uint64{}
			for i, number := range numbers {
				wide[i] = uint64(number) << 32
			}
			if got := CountLess32(&wide, uint64(x)<<32); got != want {
				t.Fatalf("CountLess32(%v, %d) = %d, want %d", numbers, x, got, want)
			}
		}
	}
}

func TestUvarintRoundTrip(t *testing.T) {
	t.Parallel()
	values := []uint64{0, 300, math.MaxUint64}
	for bit := range 64 { // a single bit in each place, and in all below
		values = append(values, 1<<bit, 1<<bit-1)
	}
	for _, want := range values {
		enc := binary.AppendUvarint(nil, want)
		got, n := Uvarint(append(enc, 0xff))
		if got != want || n != len(enc) {
			t.Errorf("Uvarint(%x) = %d, %d; want %d, %d", enc, got, n, want, len(enc))
		}
	}
}

func TestUvarintRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   []byte
	}{
		{"nothing", nil},
		{"truncated", []byte{0x80}},
		{"truncated after nine bytes", bytes.Repeat([]byte{0xff}, 9)},
		{"not minimal: zero in two bytes", []byte{0x80, 0x00}},
		{"not minimal: one in three bytes", []byte{0x81, 0x80, 0x00}},
		{"bit 64 set", append(bytes.Repeat([]byte{0xff}, 9), 0x02)},
		{"eleven bytes", append(bytes.Repeat([]byte{0x80}, 10), 0x01)},
	} {
		if v, n := Uvarint(tt.in); n != 0 {
			t.Errorf("%s: Uvarint(%x) = %d, %d; want n == 0", tt.name, tt.in, v, n)
		}
	}
}

// The copy of an empty key is not nil, since nil means no key.
func TestAppendNotNilReturnsNoNil(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		dst, b []byte
		want   []byte
	}{
		{"nothing to nothing", nil, nil, []byte{}},
		{"an empty slice to nothing", nil, []byte{}, []byte{}},
		{"bytes to nothing", nil, []byte("b"), []byte("b")},
		{"nothing to bytes", []byte("a"), nil, []byte("a")},
		{"bytes to bytes", []byte("a"), []byte("b"), []byte("ab")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := AppendNotNil(tt.dst, tt.b); got == nil || !bytes.Equal(got, tt.want) {
				t.Errorf("AppendNotNil = %#v, want %#v", got, tt.want)
			}
		})
	}
}

// The unmasked values are RFC 3720's (appendix B.4), whose 32-byte patterns
// are split here into 31 bytes of contents and one of compression id.
func TestBlockAgainstRFC3720(t *testing.T) {
	t.Parallel()
	ascending := make([]byte, 32)
	for i := range ascending {
		ascending[i] = byte(i)
	}
	for _, tt := range []struct {
		name string
		in   []byte
		crc  uint32
	}{
		{"zeros", make([]byte, 32), 0x8a9136aa},
		{"ones", bytes.Repeat([]byte{0xff}, 32), 0x62a8ab43},
		{"ascending", ascending, 0x46dd794e},
	} {
		if got := crc32.Checksum(tt.in, castagnoli); got != tt.crc {
			t.Fatalf("%s: CRC-32C = %#x, want %#x", tt.name, got, tt.crc)
		}
		want := (tt.crc>>15 | tt.crc<<17) + 0xa282ead8
		if got := Checksum(tt.in[:31], tt.in[31]); got != want {
			t.Errorf("%s: Block = %#x, want %#x", tt.name, got, want)
		}
	}
}

func TestBlockCoversTheCompressionID(t *testing.T) {
	t.Parallel()
	if Checksum([]byte("same"), 0) == Checksum([]byte("same"), 1) {
		t.Error("Block ignores the compression id")
	}
}
