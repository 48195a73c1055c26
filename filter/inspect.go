package filter

import (
	"math"
	"math/bits"
)

// An Inspection is what the bytes of one [Bloom] filter tell about it.
type Inspection struct {
	Bits int     // length of the bit array in bits
	K    int     // bits that each key sets, 1 to 255; a filter with K > 30 may contain every key
	Set  int     // number of bits that are set
	Fill float64 // Set/Bits, 0 to 1: about ½ in a filter of the best size
	Keys float64 // estimated number of keys; +Inf if all bits are set
}

// Inspect returns what the bytes of a [Bloom] filter tell about it. A filter does not know
// how many keys it has: Keys is estimated from its set bits, with a standard deviation
// of a few percent of a small filter's keys. In filters of 100,000 keys or more the estimate
// is low by up to 1/k, since third bits coincide: see [PredictRate]. It is an error if the
// filter is damaged.
func Inspect(filter []byte) (Inspection, error) {
	var p Bloom
	if err := p.Check(filter); err != nil {
		return Inspection{}, err
	}
	n := len(filter) - 1
	set := 0
	for _, c := range filter[:n] {
		set += bits.OnesCount8(c)
	}
	return newInspection(8*n, int(filter[n]), set), nil
}

func newInspection(bits, k, set int) Inspection {
	m := float64(bits)
	fill := float64(set) / m
	return Inspection{Bits: bits, K: k, Set: set, Fill: fill, Keys: -math.Log1p(-fill) * m / float64(k)}
}
