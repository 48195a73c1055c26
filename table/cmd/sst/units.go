package main

import (
	"github.com/dustin/go-humanize"
)

// count formats n and what is counted.
func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

// bytesOf formats a number of bytes with a unit.
func bytesOf(n uint64) string {
	if n < 1000 {
		return count(n, "byte")
	}
	return humanize.Bytes(n)
}
