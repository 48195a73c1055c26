package filter

import (
	"math"
	"math/bits"
)

// prober finds the bits of keys in an array of n bytes. Bit h mod 8n takes a
// remainder by a number that is no power of 2; this is one without a division,
// exact for 32-bit h (Lemire, Kaser and Kurz, "Faster remainder by direct
// computation", 2019).
type prober struct {
	n          uint64
	reciprocal uint64 // 2⁶⁴/8n, rounded up
}

// proberOf returns the prober of an array of n bytes, at least one.
func proberOf(n int) prober {
	if n < len(reciprocals) {
		return prober{uint64(n), reciprocals[n]}
	}
	n = min(n, maxBits/8)
	return prober{uint64(n), math.MaxUint64/(8*uint64(n)) + 1}
}

// reciprocals are those of the small arrays that a table's filters are.
var reciprocals = func() (r [512]uint64) {
	for n := 1; n < len(r); n++ {
		r[n] = math.MaxUint64/(8*uint64(n)) + 1
	}
	return r
}()

// at returns the byte and the bit in it of hash h: h/8n has the fraction
// h·reciprocal, which n times is the byte and, 8 times what is left, the bit.
func (p prober) at(h uint32) (index uint64, bit uint64) {
	index, fraction := bits.Mul64(p.reciprocal*uint64(h), p.n)
	return index, fraction >> 61
}

// mayContain reports whether all bits of the key with hash h are set in filter,
// a bit array and its k.
func mayContain(filter []byte, h uint32) bool {
	n := len(filter) - 1
	if n < 1 {
		return false
	}
	k := filter[n]
	if k > maxK {
		return true
	}
	array, p, delta := filter[:n], proberOf(n), h>>17|h<<15
	// Three at a time: where one bit in two is set, a branch after each would
	// be guessed wrong every other time.
	for ; k >= 3; k -= 3 {
		x, xbit := p.at(h)
		y, ybit := p.at(h + delta)
		z, zbit := p.at(h + 2*delta)
		if array[x]>>xbit&(array[y]>>ybit)&(array[z]>>zbit)&1 == 0 {
			return false
		}
		h += 3 * delta
	}
	for ; k > 0; k-- {
		x, xbit := p.at(h)
		if array[x]>>xbit&1 == 0 {
			return false
		}
		h += delta
	}
	return true
}

// setAll sets the k bits of each of the keys with those hashes in the array. It
// is not inlined, to have the processor's registers to itself.
//
//go:noinline
func setAll(array []byte, hashes []uint32, k int) {
	p := proberOf(len(array))
	for _, h := range hashes {
		delta := h>>17 | h<<15
		for range k {
			x, bit := p.at(h)
			array[x] |= 1 << bit
			h += delta
		}
	}
}
