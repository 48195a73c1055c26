package blocked

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// An Inspection is what the bits of a filter tell about it.
type Inspection struct {
	Lines uint64  // of 64 bytes each
	K     int     // bits that each key sets, 2 to 16, an even number
	Set   uint64  // number of bits that are set
	Fill  float64 // their share, 0 to 1
	Keys  float64 // estimated number of keys that were added; +Inf if all bits are set
	Rate  float64 // false-positive rate, 0 to 1
}

// Inspect returns what the bits of the filter tell about it. It reads the whole filter, which takes
// some seconds for 10 GB.
//
// Rate is the rate for random keys that the filter has as it is: it follows from the bits of each
// word. Keys is an estimate. In a filter that is as full as it was made for, its standard deviation is
// less than 1 % for 10⁴ keys, and less for more keys. It means nothing after [Filter.Intersect].
func (f *Filter) Inspect() Inspection {
	i := Inspection{Lines: uint64(len(f.lines)), K: 2 * f.probes}
	lines := float64(i.Lines)
	for n := range f.lines {
		both := 0 // the pairs of bits in one word that are both set, in order, also of a bit with itself
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
