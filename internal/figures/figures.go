// Package figures writes numbers for people to read.
package figures

import (
	"strconv"
	"strings"
)

// Digits writes v with three significant digits and no exponent.
func Digits(v float64) string { return significant(v, 3) }

// Percent writes a rate in percent, with two significant digits and no exponent.
func Percent(rate float64) string { return significant(100*rate, 2) }

// significant writes v with that many significant digits, but always with all digits before the point.
func significant(v float64, digits int) string {
	if v == 0 {
		return "0"
	}
	// Rounding can add a digit before the point: 99.96 becomes 100.
	_, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	return strconv.FormatFloat(v, 'f', max(0, digits-1-e), 64)
}

// Grouped writes n ≥ 0 with a comma before each three digits.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// RoundToUnit rounds n to a whole number of the largest power of 1000 in it, if that number is ≥ 10. Rounding to
// tenths first, and then to whole numbers, would turn 14,511 bytes into 14 kB.
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
