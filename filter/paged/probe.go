package paged

import "math/bits"

// pageBits is the number of bits of a page.
const pageBits = (PageSize - sumSize) * 8

// multiplier steps from one bit of a key to the next. It is from Steele and Vigna, "Computationally easy, spectrally
// good multipliers for congruential pseudorandom number generators", 2022. Double hashing, which adds instead, has 1.12
// times the false positives at 20 bits per key, and 1.7 times at 24.
const (
	multiplier  = 0xd1342543de82ef95
	multiplier2 = multiplier * multiplier % (1 << 64)
	multiplier3 = multiplier2 * multiplier % (1 << 64)
)

// mayContain reports whether all k bits of a key are set in its page. rest is the lower half of hash times pages.
func mayContain(page *[PageSize]byte, rest uint64, k int) bool {
	for ; k >= 3; k -= 3 { // three at a time: the multiplications are independent
		x, y := rest*multiplier, rest*multiplier2
		if rest *= multiplier3; bit(page, x)&bit(page, y)&bit(page, rest)&1 == 0 {
			return false
		}
	}
	for ; k > 0; k-- {
		if rest *= multiplier; bit(page, rest)&1 == 0 {
			return false
		}
	}
	return true
}

// bit returns the bit of a page for the upper half of r, with other bits above it.
func bit(page *[PageSize]byte, r uint64) byte {
	i := place(r)
	return page[i>>3] >> (i & 7)
}

// place returns the number of the bit for the upper half of r.
func place(r uint64) uint64 { return r >> 32 * pageBits >> 32 }

// set sets the bits of the keys with these hashes.
func (s *Shape) set(contents []byte, hashes []uint64) {
	for _, h := range hashes {
		n, rest := bits.Mul64(h, s.Pages)
		page := (*[PageSize]byte)(contents[n*PageSize:])
		for range s.K {
			rest *= multiplier
			i := place(rest)
			page[i>>3] |= 1 << (i & 7)
		}
	}
}
