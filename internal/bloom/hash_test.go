package bloom

import (
	"fmt"
	"testing"
)

// The values are those of LevelDB's own test, util/hash_test.cc.
func TestHashIsThatOfLevelDB(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		data string
		want uint32
	}{
		{"", 0xbc9f1d34},
		{"\x62", 0xef1345c4},
		{"\xc3\x97", 0x5b663814},
		{"\xe2\x99\xa5", 0x323c078f},
		{"\xe1\x80\xb9\x32", 0xed21633a},
	} {
		t.Run(fmt.Sprintf("%q", tt.data), func(t *testing.T) {
			if got := Hash([]byte(tt.data), UnsignedTail); got != tt.want {
				t.Errorf("hash = %#x, want %#x", got, tt.want)
			}
		})
	}
}
