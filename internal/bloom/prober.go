package bloom

import (
	"math"
	"math/bits"
)

// A Prober finds the bits of keys in an array of n bytes. Bit h mod 8n needs a
// remainder by a number that is not a power of 2. It is computed without a division,
// which is exact for 32-bit h (Lemire, Kaser and Kurz, "Faster remainder by direct
// computation", 2019).
type Prober struct {
	n          uint64
	reciprocal uint64 // 2⁶⁴/8n, rounded up
}

// NewProber returns the Prober of an array of n ≥ 1 bytes.
func NewProber(n int) Prober {
	if n < len(reciprocals) {
		return Prober{uint64(n), reciprocals[n]}
	}
	n = min(n, MaxBits/8)
	return Prober{uint64(n), math.MaxUint64/(8*uint64(n)) + 1}
}

// reciprocals has the reciprocal of each n < 512, since the filters in filter blocks
// are small.
var reciprocals = func() (r [512]uint64) {
	for n := 1; n < len(r); n++ {
		r[n] = math.MaxUint64/(8*uint64(n)) + 1
	}
	return r
}()

// at returns the byte of bit h mod 8n, and the bit in that byte. The fraction of h/8n
// is h·reciprocal mod 2⁶⁴, in units of 2⁻⁶⁴. Times n, its whole part is the byte. The
// rest, times 8, is the bit.
func (p Prober) at(h uint32) (index uint64, bit uint64) {
	index, fraction := bits.Mul64(p.reciprocal*uint64(h), p.n)
	return index, fraction >> 61
}

// Bit returns h mod 8n: the number of the bit that at finds.
func (p Prober) Bit(h uint32) uint32 {
	bit, _ := bits.Mul64(p.reciprocal*uint64(h), 8*p.n)
	return uint32(bit)
}

// Delta returns what is added to the hash h of a key for each next bit of the key.
func Delta(h uint32) uint32 { return h>>17 | h<<15 }

// MayContain reports whether all bits of the key with hash h are set in filter, which
// is a bit array followed by k.
func MayContain(filter []byte, h uint32) bool {
	n := len(filter) - 1
	if n < 1 {
		return false
	}
	k := filter[n]
	if k > MaxK {
		return true
	}
	array, p, delta := filter[:n], NewProber(n), Delta(h)
	// Three at a time: about half of the bits are set, so that the processor would
	// mispredict every other branch if there were one after each bit.
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

// SetAll sets the k bits of the key of each hash. It is not inlined, so that its loop
// has all registers of the processor.
//
//go:noinline
func SetAll(array []byte, hashes []uint32, k int) {
	p := NewProber(len(array))
	for _, h := range hashes {
		delta := Delta(h)
		for range k {
			x, bit := p.at(h)
			array[x] |= 1 << bit
			h += delta
		}
	}
}
