package blocked

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// An Inspection describes a filter.
type Inspection struct {
	Lines uint64  // number of lines of 64 bytes
	K     int     // bits that each key sets: 2, 4, and so on to 16
	Set   uint64  // number of bits that are set
	Fill  float64 // share of bits that are set, 0 to 1
	Keys  float64 // estimated number of keys; +Inf if all bits are set
	Rate  float64 // false-positive rate, 0 to 1
}

// Inspect describes the current filter. It reads all of it, which takes some seconds for 10 GB. The estimate of Keys
// has a standard deviation below 1 % in a full filter of 10^4 keys, and is meaningless after [Filter.Intersect].
func (f *Filter) Inspect() Inspection {
	i := Inspection{Lines: uint64(len(f.lines)), K: 2 * f.probes}
	lines := float64(i.Lines)
	for n := range f.lines {
		both := 0 // ordered pairs of set bits in the same word, including a bit with itself
		for w := range f.lines[n] {
			set := bits.OnesCount64(atomic.LoadUint64(&f.lines[n][w]))
			i.Set += uint64(set)
			both += set * set
		}
		rate, q := 1.0, float64(both)/(lineWords*wordBits*wordBits)
		for range f.probes {
			rate *= q
		}
		i.Rate += rate / lines
	}
	i.Fill = float64(i.Set) / (lines * lineWords * wordBits)
	hits := (1 - math.Pow(1-hit[1], float64(f.probes))) / lines // the probability that a key sets a given bit
	i.Keys = math.Log1p(-i.Fill) / math.Log1p(-hits)
	return i
}
