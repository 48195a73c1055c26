package filter

import (
	"math/rand/v2"

	"github.com/sievetable/sievetable/internal/bloom"
)

// fewKeys are too few for a model of independent bits.
const fewKeys = 300

// measureRate returns the rate of filters of n random hashes, of m bits, in which each sets k. It always takes
// the same hashes.
func measureRate(n, m uint64, k int) float64 {
	const (
		enough = 4000 // false positives: a standard deviation of 1.6 %
		limit  = 1 << 22
	)
	rng := rand.New(rand.NewPCG(1, 1))
	filter, hashes := make([]byte, m/8+1), make([]uint32, n)
	hits, lookups := 0, 0
	for hits < enough && lookups < limit {
		for i := range hashes {
			hashes[i] = rng.Uint32()
		}
		clear(filter)
		bloom.SetAll(filter[:m/8], hashes, k)
		filter[m/8] = byte(k)
		for range 64 + 8*n {
			if bloom.MayContain(filter, rng.Uint32()) {
				hits++
			}
		}
		lookups += int(64 + 8*n)
	}
	return float64(hits) / float64(lookups)
}
