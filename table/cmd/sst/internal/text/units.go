package text

import "github.com/dustin/go-humanize"

// Count formats n and what is counted.
func Count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return humanize.Comma(int64(n)) + " " + what + "s"
}

// Bytes formats a number of bytes with a unit.
func Bytes(n uint64) string {
	if n < 1000 {
		return Count(n, "byte")
	}
	return humanize.Bytes(whole(n))
}

// whole rounds n to a whole number of the unit that it is shown in, if that has two digits or more.
// humanize rounds to tenths first, and shows 14,511 bytes as 14 kB: the pages show 15.
func whole(n uint64) uint64 {
	unit := uint64(1)
	for n/unit >= 1000 {
		unit *= 1000
	}
	if n/unit < 10 {
		return n
	}
	return n/unit*unit + n%unit*2/unit*unit
}
