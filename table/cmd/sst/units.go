package main

import (
	"github.com/dustin/go-humanize"
)

// count returns n and what it counts.
func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

// bytesOf returns a number of bytes for people.
func bytesOf(n uint64) string {
	if n < 1000 {
		return count(n, "byte")
	}
	return humanize.Bytes(n)
}
