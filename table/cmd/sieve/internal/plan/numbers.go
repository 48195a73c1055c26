package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// percent formats a rate with two significant digits and no exponent.
func percent(rate float64) string {
	if rate == 0 {
		return "0 %"
	}
	return strconv.FormatFloat(100*rate, 'f', max(0, 1-magnitude(rate)), 64) + " %"
}

// magnitude returns the power of ten of the first digit of a rate in percent.
func magnitude(rate float64) int { return int(math.Floor(math.Log10(100*rate) + 1e-9)) }

// exactPercent formats a rate as it was given.
func exactPercent(rate float64) string {
	digits := strconv.FormatFloat(100*rate, 'e', 8, 64) // hides rounding errors of the multiplication
	v, _ := strconv.ParseFloat(digits, 64)
	return strconv.FormatFloat(v, 'f', -1, 64) + " %"
}

// size formats bytes with a unit of powers of 1000.
func size(bytes float64) string {
	value, prefix := humanize.ComputeSI(bytes)
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0") + " " + prefix + "B"
}

// exact formats bytes with a unit of powers of 1024 and no space, as the value of a flag.
func exact(bytes uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	i := 0
	for i < len(units)-1 && bytes >= 1024 && bytes%1024 == 0 {
		bytes /= 1024
		i++
	}
	return strconv.FormatUint(bytes, 10) + units[i]
}

// count formats a number with a comma between groups of three digits.
func count(n float64) string { return humanize.CommafWithDigits(n, 0) }
