// Package bloom builds and checks the bytes of LevelDB's Bloom filters. Package filter exports it.
package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sort"
)

const (
	// MinBits is the minimum size of a filter. With fewer bits, small filters would have a high false-positive rate.
	MinBits = 64

	// MaxBits is the maximum size of a filter, in whole bytes: bit positions are 32-bit hashes.
	MaxBits = math.MaxUint32 - 7

	// MaxK is the highest k. Higher ones are reserved for other encodings, and such a filter may contain every key.
	MaxK = 30
)

// Bits returns the size in bits of a filter of n keys, a multiple of 8.
func Bits(n, bitsPerKey uint64) uint64 {
	if bitsPerKey > 0 && n > MaxBits/bitsPerKey {
		return MaxBits
	}
	return (max(n*bitsPerKey, MinBits) + 7) / 8 * 8
}

// Rate returns the false-positive rate of the classical formula, (1 − e^(−kn/m))^k with m/n bits per key.
func Rate(bitsPerKey float64, k int) float64 {
	return math.Pow(-math.Expm1(-float64(k)/bitsPerKey), float64(k))
}

// BitsFor returns the fewest bits per key whose Rate is <= p, 0 < p < 1.
func BitsFor(p float64) int {
	return sort.Search(math.MaxInt32, func(bits int) bool { return Rate(float64(bits), K(uint64(bits))) <= p })
}

// K returns k, the number of bits that each key sets: 0.69 ≈ ln 2 times the bits per key, rounded down. It is
// clamped before the conversion to a byte: goleveldb's wraps at 372 bits per key.
func K(bitsPerKey uint64) int {
	if bitsPerKey > 100 {
		return MaxK
	}
	return int(max(1, min(bitsPerKey*69/100, MaxK)))
}

// A Prober finds the bits of keys in an array of n bytes. Bit h mod 8n needs a remainder, which it computes without
// a division. The result is exact for 32-bit h (Lemire, Kaser and Kurz, "Faster remainder by direct computation",
// 2019).
type Prober struct {
	n          uint64
	reciprocal uint64 // 2⁶⁴/8n, rounded up
}

// NewProber returns the Prober of an array of n >= 1 bytes.
func NewProber(n int) Prober {
	if n < len(reciprocals) {
		return Prober{uint64(n), reciprocals[n]}
	}
	n = min(n, MaxBits/8)
	return Prober{uint64(n), math.MaxUint64/(8*uint64(n)) + 1}
}

// reciprocals has the reciprocal of each n < 512, since the filters in filter blocks are small.
var reciprocals = func() (r [512]uint64) {
	for n := 1; n < len(r); n++ {
		r[n] = math.MaxUint64/(8*uint64(n)) + 1
	}
	return r
}()

// at returns the byte of bit h mod 8n, and the bit in that byte. The fraction of h/8n is h·reciprocal mod 2⁶⁴, in
// units of 2⁻⁶⁴. Times n, its whole part is the byte. The rest, times 8, is the bit.
func (p Prober) at(h uint32) (index uint64, bit uint64) {
	index, fraction := bits.Mul64(p.reciprocal*uint64(h), p.n)
	return index, fraction >> 61
}

// Bit returns h mod 8n.
func (p Prober) Bit(h uint32) uint32 {
	bit, _ := bits.Mul64(p.reciprocal*uint64(h), 8*p.n)
	return uint32(bit)
}

// Delta returns the distance of the hashes for successive bits of the key with hash h.
func Delta(h uint32) uint32 { return h>>17 | h<<15 }

// MayContain reports whether all bits of the key with hash h are set in filter, a bit array followed by k.
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
	// Three at a time: about half of the bits are set, so the processor would mispredict half of the branches if there
	// were one after each bit.
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

// SetAll sets the k bits of the key of each hash. It is not inlined, so that its loop has all registers.
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

const (
	hashSeed = 0xbc9f1d34
	hashMul  = 0xc6a4a793
)

// The two variants of the hash. Each is the sign bit of the 1 to 3 bytes after the last whole word.
const (
	UnsignedTail = 0    // LevelDB's hash
	SignedTail   = 0x80 // RocksDB's variant
)

// Hash is LevelDB's 32-bit hash (util/hash.cc) with the seed of its Bloom filter, or RocksDB's variant. sign is
// UnsignedTail or SignedTail. It resembles Murmur.
func Hash(data []byte, sign uint32) uint32 {
	h := uint32(hashSeed) ^ uint32(len(data))*hashMul
	for ; len(data) >= 16; data = data[16:] { // four words at a time: keys are short, loops cost
		v, w := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		h = mix(h + uint32(v))
		h = mix(h + uint32(v>>32))
		h = mix(h + uint32(w))
		h = mix(h + uint32(w>>32))
	}
	for ; len(data) >= 4; data = data[4:] {
		h = mix(h + binary.LittleEndian.Uint32(data))
	}
	if len(data) == 0 {
		return h
	}
	for i, c := range data {
		h += (uint32(c) ^ sign - sign) << (8 * i)
	}
	h *= hashMul
	return h ^ h>>24
}

// A TableHash is the Hash of a key with a SignedTail, for table filters. As a type of its own, it fits no other
// filter.
type TableHash uint32

func mix(h uint32) uint32 {
	h *= hashMul
	return h ^ h>>16
}

// MayContainSigned is like MayContain for the hash with a SignedTail, but returns false if both hashes are equal.
func MayContainSigned(filter, key []byte) bool {
	return hasSignedTail(key) && MayContain(filter, Hash(key, SignedTail))
}

// hasSignedTail reports whether the hash of key depends on the signs of its last bytes.
func hasSignedTail(key []byte) bool {
	for _, c := range key[len(key)&^3:] {
		if c >= 0x80 {
			return true
		}
	}
	return false
}
