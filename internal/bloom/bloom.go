// Package bloom builds and asks LevelDB's Bloom filters: their bytes, without what package filter says of
// them to users.
package bloom

import "math"

const (
	// A filter has at least MinBits. With fewer, a filter of few keys would have a
	// high false-positive rate.
	MinBits = 64

	// Bit positions are 32-bit hashes, so that no more than 2³² bits can be
	// reached. The largest array of whole bytes below that has 2³²−8 bits.
	MaxBits = math.MaxUint32 - 7

	// A stored k > MaxK is reserved for other encodings. A reader that does not
	// know them treats the filter as "may contain".
	MaxK = 30
)

// Bits returns how many bits a filter of n keys has, a multiple of 8.
func Bits(n, bitsPerKey uint64) uint64 {
	if bitsPerKey > 0 && n > MaxBits/bitsPerKey {
		return MaxBits
	}
	return (max(n*bitsPerKey, MinBits) + 7) / 8 * 8
}

// Rate is the false-positive rate of the classical formula, (1 − e^(−kn/m))^k with m/n bits per key: that
// of k independent bits.
func Rate(bitsPerKey float64, k int) float64 {
	return math.Pow(-math.Expm1(-float64(k)/bitsPerKey), float64(k))
}

// K returns k, the number of bits that each key sets: 0.69 ≈ ln 2 times the bits
// per key, rounded down to save a probe. It is clamped before the conversion to a
// byte: goleveldb's wraps at 372 bits per key.
func K(bitsPerKey uint64) int {
	if bitsPerKey > 100 {
		return MaxK
	}
	return int(max(1, min(bitsPerKey*69/100, MaxK)))
}

// Size returns the length in bytes of a filter of n keys.
func Size(n int, bitsPerKey uint64) int { return int(Bits(uint64(n), bitsPerKey)/8) + 1 }

// Build makes filter, whose length is that of Size, one of the keys of these hashes. Its bytes are
// arbitrary before.
func Build(filter []byte, hashes *Hashes, bitsPerKey uint64) {
	array, k := filter[:len(filter)-1], K(bitsPerKey)
	clear(array)
	hashes.All(func(chunk []uint32) { SetAll(array, chunk, k) })
	filter[len(array)] = byte(k)
}
