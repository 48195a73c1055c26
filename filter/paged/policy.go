package paged

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/sievetable/sievetable/filter"
)

const (
	maxBitsPerKey = 64

	// defaultBitsPerKey is for the zero value of Policy.
	defaultBitsPerKey = 14

	// maxPages is the maximum number of pages of a filter: checksums include 32 bits of the page number.
	maxPages = 1 << 32
)

// A Policy builds and opens paged filters. It is a [filter.TablePolicy]. The zero value is New(14). A Policy is
// safe for concurrent use.
type Policy struct {
	bitsPerKey int  // 0: defaultBitsPerKey
	inMemory   bool // Readers hold whole filters
}

var _ filter.TablePolicy = Policy{}

// New returns a Policy that builds filters of bitsPerKey bits for each key, 1 to 64. Readers ignore bitsPerKey. A
// table's filter can take 1 GiB, enough for 610 million keys at 14 bits.
func New(bitsPerKey int) (Policy, error) {
	if bitsPerKey < 1 || bitsPerKey > maxBitsPerKey {
		return Policy{}, fmt.Errorf("paged: %d bits per key: must be 1 to %d", bitsPerKey, maxBitsPerKey)
	}
	return Policy{bitsPerKey: bitsPerKey}, nil
}

// Name returns "sievetable.paged".
func (Policy) Name() string { return "sievetable.paged" }

// BitsPerKey returns the argument of New, or 14 for the zero value.
func (p Policy) BitsPerKey() int { return cmp.Or(p.bitsPerKey, defaultBitsPerKey) }

// K returns the number of bits that a key sets, 1 to 44.
func (p Policy) K() int { return int(max(1, math.Round(float64(p.BitsPerKey())*math.Ln2))) }

// Size returns the length in bytes of a filter of n keys, 4132 or more.
func (p Policy) Size(n uint64) uint64 { return p.pages(n)*PageSize + TrailerSize }

// Rate returns the expected false-positive rate, 0 to 1, of a filter of n random keys.
func (p Policy) Rate(n uint64) float64 {
	// The classical formula, (1 - e^(-kn/m))^k, averaged over pages with more or fewer keys.
	pages, k := float64(p.pages(n)), float64(p.K())
	mean := float64(n) / pages
	deviation := math.Sqrt(mean * (1 - 1/pages))
	rate := func(keys float64) float64 { return math.Pow(-math.Expm1(-k*max(keys, 0)/pageBits), k) }
	// Gauss-Hermite quadrature of the normal distribution, with three points.
	return rate(mean)*2/3 + (rate(mean-math.Sqrt(3)*deviation)+rate(mean+math.Sqrt(3)*deviation))/6
}

// pages returns how many pages a filter of n keys has.
func (p Policy) pages(n uint64) uint64 {
	hi, total := bits.Mul64(n, uint64(p.BitsPerKey()))
	if hi > 0 || total > maxPages*pageBits {
		return maxPages
	}
	return max(1, (total+pageBits-1)/pageBits)
}
