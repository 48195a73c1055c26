package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// words say how figures compare: by comparatives such as "faster" and "slower", and by an
// equality such as "as fast as".
type words struct{ less, more, same string }

var (
	speed  = words{"faster than", "slower than", "as fast as"}
	amount = words{"fewer", "more", "as many"}
	length = words{"less", "more", "the same"}
)

// near is how much ratios may differ from 1 and still be said to be equal: less than repeated
// measurements do.
const near = 1.05

// compare says what the ratios, of a peer's figures to ours, have in common: "5 × faster than", "1.3 to
// 5 × faster than", or "from 1.2 × slower than to 5 × faster than". A figure is better if it is less.
func (w words) compare(ratios ...float64) string {
	low, high := slices.Min(ratios), slices.Max(ratios)
	switch {
	case high < near && low > 1/near:
		return w.same
	case low >= 1/near:
		return between(max(low, 1), high) + " × " + w.less
	case high <= near:
		return between(max(1/high, 1), 1/low) + " × " + w.more
	}
	return "from " + times(1/low) + " × " + strings.TrimSuffix(w.more, " than") + " to " + times(high) + " × " + w.less
}

// between is a range, or one number if both would be written alike.
func between(low, high float64) string {
	if times(low) == times(high) {
		return times(low)
	}
	return times(low) + " to " + times(high)
}

// times writes a ratio with two digits, and all those before the decimal point.
func times(ratio float64) string {
	if ratio >= 9.95 {
		return strconv.FormatFloat(math.Round(ratio), 'f', 0, 64)
	}
	return strings.TrimSuffix(strconv.FormatFloat(ratio, 'f', 1, 64), ".0")
}
