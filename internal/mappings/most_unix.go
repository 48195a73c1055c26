//go:build unix

package mappings

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// most returns the maximum number of mapped files: half of Linux's limit, which leaves the rest to Go and other
// packages. Other systems have no such limit.
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
