package text

import (
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/figures"
)

// Count formats n and what is counted.
func Count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	switch {
	case strings.HasSuffix(what, "x"):
		what += "e"
	case strings.HasSuffix(what, "ry"):
		what = strings.TrimSuffix(what, "y") + "ie"
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

// Bytes formats a number of bytes with a unit.
func Bytes(n uint64) string {
	if n < 1000 {
		return Count(n, "byte")
	}
	return humanize.Bytes(figures.RoundToUnit(n))
}
