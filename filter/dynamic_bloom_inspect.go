package filter

import (
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
)

// Inspect returns what the bits of the filter tell about it: how many are set, and about how many
// keys that takes. It reads the whole filter.
func (f *DynamicBloom) Inspect() Inspection {
	set := 0
	for i := range f.words {
		set += bits.OnesCount32(atomic.LoadUint32(&f.words[i]))
	}
	return newInspection(8*f.size, f.k, set)
}

// Rate returns the false-positive rate for random keys, 0 to 1, that the filter has at present. It is
// measured: Rate asks the filter for 2²⁰ random hashes, always the same ones. The standard
// deviation is √(rate/2²⁰): 0.01 percentage points if the rate is 1 %, and a third of a rate of 10⁻⁵.
// Rate takes about 10 milliseconds, and up to 200 if the filter is large.
//
// The share of set bits to the power of k would be the rate of k independent bits. LevelDB's
// are not independent: in a filter of 10⁶ keys with 10 bits for each the power is 0.43 %, and the
// rate is 1.3 %. [PredictRate] explains it.
func (f *DynamicBloom) Rate() float64 {
	const samples = 1 << 20
	rng, hits := rand.New(rand.NewPCG(1, 1)), 0
	for range samples {
		if f.containsHash(rng.Uint32()) {
			hits++
		}
	}
	return float64(hits) / samples
}
