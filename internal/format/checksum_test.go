package format

import (
	"bytes"
	"hash/crc32"
	"testing"
)

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
