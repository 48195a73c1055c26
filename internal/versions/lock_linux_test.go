package versions

import (
	"fmt"
	"testing"
)

// The device numbers in /proc/locks, of 12 and 20 bits, match those from stat.
func TestDeviceNumbersAreThoseOfStat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ major, minor, stat uint64 }{
		{0, 0, 0}, {8, 1, 0x801}, {259, 5, 0x10305}, {8, 256, 0x100800}, {1<<12 - 1, 1<<20 - 1, 1<<32 - 1},
	} {
		if got, want := fileID(tt.stat, 3932), fmt.Sprintf("%02x:%02x:3932", tt.major, tt.minor); got != want {
			t.Errorf("a file of device %#x is %s, want %s", tt.stat, got, want)
		}
	}
}
