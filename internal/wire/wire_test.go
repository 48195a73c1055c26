package wire

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

func TestUvarintRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []uint64{0, 1, 127, 128, 300, 1 << 14, 1<<32 - 1, 1 << 62, 1 << 63, math.MaxUint64} {
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
