package printable

import "unicode"

// isPrint is strconv.IsPrint for characters < 1<<16, without its search.
func isPrint(r rune) bool { return printBits[r/64]>>(r%64)&1 != 0 }

// printBits has a set bit for each of these characters that is printable.
var printBits = func() (all [1 << 16 / 64]uint64) {
	all[' '/64] = 1 << (' ' % 64)
	for _, table := range unicode.PrintRanges {
		for _, r := range table.R16 {
			if r.Stride == 1 {
				setBits(&all, uint(r.Lo), uint(r.Hi))
				continue
			}
			for c := uint(r.Lo); c <= uint(r.Hi); c += uint(r.Stride) {
				setBits(&all, c, c)
			}
		}
	}
	return all
}()

// setBits sets the bits from one number to another, a word at a time.
func setBits(all *[1 << 16 / 64]uint64, from, to uint) {
	for from <= to {
		last := min(to, from|63)
		all[from/64] |= ^uint64(0) >> (63 - (last - from)) << (from % 64)
		from = last + 1
	}
}
