package filter

import (
	"fmt"
	"math"

	"github.com/sievetable/sievetable/internal/format"
)

// maxSizedBits is the most bits per key that ForRate returns. More of them do not lower a rate that is worth asking for.
const maxSizedBits = 64

// ForRate returns the policy with the fewest bits per key whose filters of n keys have a false-positive
// rate <= p. newPolicy is [NewBloom] or [NewTableBloom]:
//
//	policy, err := filter.ForRate(filter.NewBloom, 1_000_000, 0.01)
//	... policy.BitsPerKey(), policy.K(), policy.Size(1_000_000), policy.Rate(1_000_000) ...
//
// n is the number of keys of one filter: those of a table for a table filter, and about those of a data
// block in a filter block. The rate is that of random keys as filters measure it, which is higher than
// that of the classical formulas,
//
//	m = -n*ln(p)/ln(2)^2       bits for a false-positive rate p, at the best k
//	k = m/n*ln(2)              the best k
//	p = (1 - e^(-kn/m))^k      the rate
//
// If p is not in (0, 1), or no filter of at most 64 bits per key has that rate, ForRate returns an error.
// Modules filter/fuse and filter/blocked have filters with lower rates. For NewBloom and more than 100
// million keys, ForRate takes up to 6 seconds.
func ForRate[P interface{ Rate(n uint64) float64 }](newPolicy func(bitsPerKey int) P, n uint64, p float64) (P, error) {
	if !(p > 0 && p < 1) {
		return newPolicy(0), fmt.Errorf("filter: false-positive rate %g, want it > 0 and < 1", p)
	}
	sameHash := -math.Expm1(-float64(n) / (1 << 32)) // the absent keys that pass any filter
	for bitsPerKey := 1; bitsPerKey <= maxSizedBits && sameHash <= p; bitsPerKey++ {
		if policy := newPolicy(bitsPerKey); policy.Rate(n) <= p {
			return policy, nil
		}
	}
	return newPolicy(0), fmt.Errorf("filter: no filter of %s with ≤ %d bits per key has a false-positive rate of %g: "+
		"modules filter/fuse and filter/blocked have filters with lower rates", format.Plural(n, "key"), maxSizedBits, p)
}
