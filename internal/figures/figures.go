// Package figures writes numbers for people to read.
package figures

import (
	"fmt"
	"math"
	"strconv"
)

// Digits writes v with three significant digits and no exponent.
func Digits(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", max(0, decimals), v)
}

// Grouped writes n ≥ 0 with a comma before each three digits.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
