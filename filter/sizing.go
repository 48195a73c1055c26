package filter

import (
	"fmt"
	"math"

	"github.com/sievetable/sievetable/internal/format"
)

// maxSizedBits is the maximum number of bits per key that ForRate chooses. In practice, more bits do not lower the
// rate.
const maxSizedBits = 64

// ForRate returns the policy with the fewest bits per key whose filters of n random keys have a false-positive rate
// <= p, 0 < p < 1. newPolicy is [NewBloom] or [NewTableBloom]:
//
//	policy, err := filter.ForRate(filter.NewTableBloom, 1_000_000, 0.01)
//
// For block filters, n is the number of keys of a data block. If no filter of at most 64 bits per key has that
// rate, ForRate returns an error: modules filter/fuse and filter/blocked reach lower rates. For NewBloom,
// ForRate can take 8 seconds.
func ForRate[P interface{ Rate(n uint64) float64 }](newPolicy func(bitsPerKey int) P, n uint64, p float64) (P, error) {
	if !(p > 0 && p < 1) {
		return newPolicy(0), fmt.Errorf("filter: false-positive rate %g: must be > 0 and < 1", p)
	}
	sameHash := -math.Expm1(-float64(n) / (1 << 32)) // the share of absent keys that pass any filter
	for bitsPerKey := 1; bitsPerKey <= maxSizedBits && sameHash <= p; bitsPerKey++ {
		if policy := newPolicy(bitsPerKey); policy.Rate(n) <= p {
			return policy, nil
		}
	}
	return newPolicy(0), fmt.Errorf("filter: no filter of %s with ≤ %d bits per key has a false-positive rate of %g: "+
		"use module filter/fuse (lowest rate 2^-16) or filter/blocked (1e-9)", format.Plural(n, "key"), maxSizedBits, p)
}
