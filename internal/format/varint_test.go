package format

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

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

// The copy of an empty key is not nil, which would stand for no key.
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
