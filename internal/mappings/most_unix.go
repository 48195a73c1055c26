//go:build unix

package mappings

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// most returns how many files may be mapped: half of what Linux allows, which leaves the other half to Go and other
// packages. Other systems have no such bound.
func most() int64 {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		const usual = 65530
		n = usual
	}
	return n / 2
}
