// Package fuse builds and reads binary fuse filters, the table filters with the fewest false positives for their
// bits. At 13.6 bits per key, 1 of 4096 absent keys passes. A [filter.TableBloom] of that size passes 1 of 240.
//
//	policy, err := fuse.New(12)
//	w, err := table.Create(name, &table.WriterOptions{TableFilterPolicy: policy})
//	r, err := table.Open(name, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{policy}})
//
// A Reader without a [Policy] ignores the filter. A Policy of any number of bits reads it, and [Policy.AtMost]
// reads a 16-bit filter as a smaller one. Pebble after 2.1.7 reads and writes the same bytes, except for 14 bits.
// Older versions, RocksDB and LevelDB ignore these filters.
//
// # Format
//
// A filter is an array of fingerprints, cut into segments of equal length, a power of two. The hash of a key, its
// 64-bit XXH3, determines its fingerprint of b bits and three places in consecutive segments. The exclusive or of
// the three fingerprints there equals the key's fingerprint. For an absent key, this happens with probability 2^-b.
//
//	+--------------+-------+--------------+----------------------+--------+
//	| fingerprints | seed  | segments - 2 | log2(segment length) | b      |
//	| bit strings  | u64le | u32le        | 1 byte               | 1 byte |
//	+--------------+-------+--------------+----------------------+--------+
//
// Fingerprints are little-endian bit strings. If they have 12 bits, one spare byte follows, and for 10 bits three.
// See Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022,
// https://arxiv.org/abs/2201.01174.
package fuse

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
)

// MaxKeys is the highest number of keys of one filter, as in Pebble.
const MaxKeys = 10_000_000

// widths are the valid lengths of fingerprints in bits.
var widths = []int{4, 8, 10, 12, 14, 16}

// defaultBits is the number of bits for the zero value of Policy.
const defaultBits = 12

// A Policy builds and reads binary fuse filters. It is a [filter.TablePolicy]. The zero value is New(12). A Policy
// is safe for concurrent use.
type Policy struct {
	bits int // 0: defaultBits
	most int // maximum bits of the filters that Readers keep; 0: no limit
}

var _ filter.TablePolicy = Policy{}

// New returns a Policy that builds filters with fingerprints of 4, 8, 10, 12, 14 or 16 bits. With 10^6 keys:
//
//	bits of a fingerprint     4       8       10      12       14       16
//	bits per key             4.5     9.0     11.3    13.6     15.8     18.1
//	false positives        6.25 %  0.39 %  0.098 % 0.024 %  0.0061 % 0.0015 %
//
// Filters of 100,000 keys take 5 % more bits per key, of 10,000 keys 14 %, of 1,000 keys 26 %, and of 100 keys 80
// %.
func New(bits int) (Policy, error) {
	if !slices.Contains(widths, bits) {
		return Policy{}, errBits(bits)
	}
	return Policy{bits: bits}, nil
}

func errBits(bits int) error {
	return fmt.Errorf("fuse: fingerprints of %d bits: must be 4, 8, 10, 12, 14 or 16", bits)
}

// ForRate returns the Policy with the fewest bits whose Rate is <= p. The lowest rate is 2^-16.
func ForRate(p float64) (Policy, error) {
	if !(p > 0 && p < 1) {
		return Policy{}, fmt.Errorf("fuse: false-positive rate %g: must be > 0 and < 1", p)
	}
	for _, bits := range widths {
		if policy := (Policy{bits: bits}); policy.Rate() <= p {
			return policy, nil
		}
	}
	return Policy{}, fmt.Errorf("fuse: false-positive rate %g is lower than with 16 bits, %g: use module filter/blocked, whose lowest rate is 1e-9",
		p, math.Exp2(-16))
}

const (
	pebblesName = "binaryfuse"
	ownName     = "sievetable.binaryfuse" // for fingerprints that Pebble does not read
)

// Name returns "binaryfuse", Pebble's name, or "sievetable.binaryfuse" for fingerprints of 14 bits.
func (p Policy) Name() string {
	if p.Bits() == 14 {
		return ownName
	}
	return pebblesName
}

// ReadAliases returns the other of the two names, which a Policy reads too.
func (p Policy) ReadAliases() []string {
	if p.Name() == ownName {
		return []string{pebblesName}
	}
	return []string{ownName}
}

// Bits returns the length of a fingerprint in bits: 4, 8, 10, 12, 14 or 16.
func (p Policy) Bits() int { return cmp.Or(p.bits, defaultBits) }

// Rate returns the expected false-positive rate, 2^-Bits, for any number of keys.
func (p Policy) Rate() float64 { return math.Exp2(-float64(p.Bits())) }

// Size returns the length in bytes of a filter of n distinct keys, or 0 if n < 1 or n > [MaxKeys].
func (p Policy) Size(n int) int {
	if n < 1 || n > MaxKeys {
		return 0
	}
	return int(packedSize(shapeOf(n).fingerprints(), p.Bits())) + trailerLen
}
