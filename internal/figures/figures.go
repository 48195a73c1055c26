// Package figures writes numbers for people to read.
package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Digits writes v with three significant digits and no exponent.
func Digits(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", max(0, decimals), v)
}

// Percent writes a rate in percent, with two significant digits and no exponent.
func Percent(rate float64) string {
	if rate == 0 {
		return "0"
	}
	_, digits, _ := strings.Cut(strconv.FormatFloat(100*rate, 'e', 1, 64), "e")
	exponent, _ := strconv.Atoi(digits)
	return strconv.FormatFloat(100*rate, 'f', max(0, 1-exponent), 64)
}

// Grouped writes n ≥ 0 with a comma before each three digits.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// RoundToUnit rounds n to a whole number of the largest power of 1000 in it, if that is ≥ 10. Whoever
// rounds to tenths first, and then to whole numbers, has 14 kB for 14,511 bytes.
func RoundToUnit(n uint64) uint64 {
	unit := uint64(1)
	for n/unit >= 1000 {
		unit *= 1000
	}
	if n/unit < 10 {
		return n
	}
	return n/unit*unit + n%unit*2/unit*unit
}
