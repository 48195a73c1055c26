package progress

import (
	"fmt"
	"strings"
	"time"
)

const (
	wide       = 60          // columns of a terminal that has room for more than the percentage
	firstRates = time.Second // before, rates are by chance
	leastBar   = 10          // columns of the drawn bar, or there is none

	// free is how many columns stay free: one, because some terminals go to the next line after
	// the last one, and those of "^C", which a terminal shows for an interrupt.
	free = 1 + len("^C")
)

// line returns what a Bar shows on a terminal of this many columns. It is ASCII.
func (b *Bar) line(columns int, done int64, elapsed time.Duration) string {
	percent, known := b.percent(done)
	var line string
	switch {
	case columns < wide && known:
		line = fmt.Sprintf("%3d %%", percent)
	case columns < wide:
		line = b.amount(done)
	case known:
		line = b.withBar(columns-free, percent, done, elapsed)
	default:
		line = b.what + "  " + fitting(b.numbers(done, elapsed), columns-free-len(b.what)-2)
	}
	return line[:max(0, min(len(line), columns-free))]
}

// percent returns the share of the work that is done, if the total is known. A file that grows
// may have more than its total.
func (b *Bar) percent(done int64) (percent int, known bool) {
	if b.total <= 0 {
		return 0, false
	}
	return int(min(100, 100*float64(done)/float64(b.total))), true
}

// withBar returns a line with a drawn bar as long as there is room for.
func (b *Bar) withBar(columns, percent int, done int64, elapsed time.Duration) string {
	left := fmt.Sprintf("%s %3d %%  ", b.what, percent)
	right := fitting(b.numbers(done, elapsed), columns-len(left))
	room := columns - len(left) - len("[]  ") - len(right)
	if room < leastBar {
		return left + right
	}
	full := room * percent / 100
	return left + "[" + strings.Repeat("=", full) + strings.Repeat(" ", room-full) + "]  " + right
}

// fitting joins as many of the parts as fit, since a number that is cut is another one.
func fitting(parts []string, columns int) string {
	for ; len(parts) > 0; parts = parts[:len(parts)-1] {
		if s := strings.Join(parts, ", "); len(s) <= columns {
			return s
		}
	}
	return ""
}

// numbers returns how much is done, and after a second the rate and the time that is left.
func (b *Bar) numbers(done int64, elapsed time.Duration) []string {
	s := b.amount(done)
	if b.total > 0 {
		s += " of " + b.amount(b.total)
	}
	parts := []string{s + b.unit}
	if elapsed < firstRates || done <= 0 {
		return parts
	}
	rate := float64(done) / elapsed.Seconds()
	parts = append(parts, b.amount(int64(rate))+"/s")
	const longest = float64(1000 * time.Hour)
	if left := float64(b.total-done) / rate * float64(time.Second); b.total > 0 && left < longest {
		parts = append(parts, time.Duration(max(0, left)).Round(time.Second).String()+" left")
	}
	return parts
}
