package versions

import (
	"testing"
)

// The device numbers of /proc/locks, of 12 and 20 bits, are those of stat.
func TestDeviceNumbersAreThoseOfStat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ major, minor, want uint64 }{
		{0, 0, 0}, {8, 1, 0x801}, {259, 5, 0x10305}, {8, 256, 0x100800}, {1<<12 - 1, 1<<20 - 1, 1<<32 - 1},
	} {
		if got := makeDevice(tt.major, tt.minor); got != tt.want {
			t.Errorf("device %d:%d is %#x, want %#x", tt.major, tt.minor, got, tt.want)
		}
	}
}
