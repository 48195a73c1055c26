// Package fuse has binary fuse filters of whole tables, in the encoding of Pebble. They are the
// smallest filters that Go storage engines read: one that errs for 1 of 4096 absent keys takes 13.6
// bits per key. A [filter.TableBloom] of that size errs for 1 of 240.
//
//	policy, err := fuse.New(12)
//	w, err := table.Create(name, &table.WriterOptions{TableFilterPolicy: policy})
//	r, err := table.Open(name, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{policy}})
//
// A Reader uses such a filter only if it has a [Policy] in its options, of any number of bits. That of
// [Policy.AtMost] takes less memory: a filter of 16 bits can be read as one of 4 to 14 bits.
// Versions of Pebble newer than 2.1.7 read the filters, but for those of 14 bits. Older ones, RocksDB and
// LevelDB ignore them.
//
// # What is stored
//
// A filter is an array of fingerprints of 4 to 16 bits, cut into segments of equal length, a power
// of two. The hash of a key determines its fingerprint, and three places in three consecutive
// segments. The fingerprints at these places are chosen such that their exclusive or is the
// fingerprint of the key. An absent key has the right one with probability 2^−b, where b is the
// number of bits of a fingerprint:
//
//	┌───────────────┬──────┬──────────────┬───────────────────────┬───┐
//	│ fingerprints  │ seed │ segments − 2 │ log2(segment length)  │ b │
//	└───────────────┴──────┴──────────────┴───────────────────────┴───┘
//	  bit strings     u64le  u32le          1 byte                  1 byte
//
// The fingerprints are little-endian bit strings, one after the other. There is one spare byte
// behind those of 12 bits, and three behind those of 10 bits. The hash is the 64-bit XXH3 of the
// key.
//
// See Graf and Lemire, “Binary Fuse Filters: Fast and Smaller Than Xor Filters” (2022),
// https://arxiv.org/abs/2201.01174. The bytes are those that Pebble writes for the same keys.
package fuse

import (
	"fmt"
	"math"

	"github.com/sievetable/sievetable/filter"
)

// MaxKeys is the highest number of keys of one filter. It is Pebble's limit.
const MaxKeys = 10_000_000

// defaultBits is what the zero value of Policy builds.
const defaultBits = 12

// A Policy builds and reads binary fuse filters. It is a [filter.TablePolicy]. The zero
// value is that of New(12). A Policy is safe for concurrent use.
type Policy struct {
	bits int // 0: defaultBits
	most int // of the filters that Readers keep; 0: as many as they have
}

var _ filter.TablePolicy = Policy{}

// New returns a Policy that builds filters with fingerprints of the given number of bits: 4, 8, 10,
// 12, 14 or 16. Another number is an error. Filters of 10⁶ keys measure:
//
//	bits of a fingerprint     4       8       10      12       14       16
//	bits per key             4.5     9.0     11.3    13.6     15.8     18.1
//	false positives        6.25 %  0.39 %  0.098 % 0.024 %  0.0061 % 0.0015 %
//
// Pebble does not read fingerprints of 14 bits, and ignores these filters.
//
// Smaller filters take more bits per key: 5 % more for 100,000 keys, 14 % for 10,000, 26 % for 1,000,
// and 80 % for 100. [Policy.Size] returns the exact size.
func New(bits int) (Policy, error) {
	if !validBits(bits) {
		return Policy{}, errBits(bits)
	}
	return Policy{bits: bits}, nil
}

func errBits(bits int) error {
	return fmt.Errorf("fuse: fingerprints of %d bits, want 4, 8, 10, 12, 14 or 16", bits)
}

// ForRate returns the Policy with the fewest bits whose Rate is ≤ p. It is an error if p is not in
// [2⁻¹⁶, 1).
func ForRate(p float64) (Policy, error) {
	if !(p > 0 && p < 1) {
		return Policy{}, fmt.Errorf("fuse: false-positive rate %g, want it > 0 and < 1", p)
	}
	for _, bits := range []int{4, 8, 10, 12, 14, 16} {
		if policy := (Policy{bits: bits}); policy.Rate() <= p {
			return policy, nil
		}
	}
	return Policy{}, fmt.Errorf("fuse: false-positive rate %g, want at least %g, that of 16 bits: module filter/blocked has lower ones", p, math.Exp2(-16))
}

func validBits(bits int) bool {
	return bits == 4 || bits == 8 || bits == 10 || bits == 12 || bits == 14 || bits == 16
}

const (
	pebblesName = "binaryfuse"
	ownName     = "sievetable.binaryfuse" // for fingerprints of a length that Pebble does not read
)

// Name returns "binaryfuse", the name that Pebble uses, or "sievetable.binaryfuse" for fingerprints of
// 14 bits. The number of bits is stored in the filter.
func (p Policy) Name() string {
	if p.Bits() == 14 {
		return ownName
	}
	return pebblesName
}

// ReadAliases returns the other one of the names: a Policy of any number of bits reads all filters.
func (p Policy) ReadAliases() []string {
	if p.Name() == ownName {
		return []string{pebblesName}
	}
	return []string{ownName}
}

// Bits returns how many bits the fingerprints of the filters have: 4, 8, 10, 12, 14 or 16.
func (p Policy) Bits() int {
	if p.bits == 0 {
		return defaultBits
	}
	return p.bits
}

// Rate returns the expected share of absent keys for which the filters answer "may contain": 2 to
// the power of −Bits, for any number of keys.
func (p Policy) Rate() float64 { return math.Exp2(-float64(p.Bits())) }

// Size returns the length in bytes of a filter of n distinct keys, or 0 if there is none: for
// n < 1, or n > [MaxKeys].
func (p Policy) Size(n int) int {
	if n < 1 || n > MaxKeys {
		return 0
	}
	return int(packedSize(shapeOf(n).fingerprints(), p.Bits())) + trailerLen
}
