package filter

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/sievetable/sievetable/internal/bloom"
)

// An Inspection describes a [Bloom] or [TableBloom] filter.
type Inspection struct {
	Bits int     // length of the bit array or of all lines
	K    int     // bits that each key sets, 1 to 255; a Bloom filter with K > 30 may contain every key
	Set  int     // number of bits that are set
	Fill float64 // Set/Bits, 0 to 1; about 0.5 in a filter of the best size
	Keys float64 // estimated number of keys; +Inf if all bits are set

	// Rate is the false-positive rate, 0 to 1, computed from the set bits, also of a union. The measured rate of
	// Bloom filters is higher: see PredictRate.
	Rate float64
}

// Inspect describes a [Bloom] filter. The number of keys is estimated from the set bits, within 5 % for 1000 to 10000
// keys. For the keys of a data block it can be 25 % wrong, or more if they are short and similar, and for more than
// 10000 keys it is too low by up to 1/k.
func Inspect(filter []byte) (Inspection, error) {
	if err := (Bloom{}).Check(filter); err != nil {
		return Inspection{}, err
	}
	n := len(filter) - 1
	i := Inspection{Bits: 8 * n, K: int(filter[n])}
	for _, c := range filter[:n] {
		i.Set += bits.OnesCount8(c)
	}
	i.estimate()
	if i.Rate = math.Pow(i.Fill, float64(i.K)); i.K > bloom.MaxK {
		i.Rate = 1
	}
	return i, nil
}

// estimate sets Fill and Keys.
func (i *Inspection) estimate() {
	i.Fill = float64(i.Set) / float64(i.Bits)
	i.Keys = -math.Log1p(-i.Fill) * float64(i.Bits) / float64(i.K)
}

// InspectTable describes a [TableBloom] filter, like Inspect. For a filter without keys, the Inspection is zero.
func InspectTable(filter []byte) (i Inspection, err error) {
	opened, err := TableBloom{}.Open(filter)
	if err != nil || opened == emptyTableBloom {
		return i, err
	}
	f := opened.(*tableBloomFilter)
	i.Bits, i.K = 8*len(f.lines), f.k
	for line := f.lines; len(line) > 0; line = line[lineSize:] {
		set := 0
		for _, c := range line[:lineSize] {
			set += bits.OnesCount8(c)
		}
		i.Set += set
		i.Rate += math.Pow(float64(set)/lineBits, float64(f.k)) / float64(f.n)
	}
	i.estimate()
	return i, nil
}

// Probes are the bits that a lookup checks in a Bloom filter.
type Probes struct {
	Hash   uint32   // the hash of the key
	Signed bool     // the hash takes the last len(key)%4 bytes as signed: see EitherHash
	Line   uint32   // the line of a TableBloom filter; else 0
	Bits   []uint32 // positions of the k bits in the bit array or line; none if k > 30
	Clear  int      // index in Bits of the first bit that is 0; -1 if the filter may contain the key
}

// Probe returns the bits that a lookup of key checks in a [Bloom] filter. It is slower than Contains.
func Probe(filter, key []byte) (Probes, error) {
	if err := (Bloom{}).Check(filter); err != nil {
		return Probes{}, err
	}
	return probe(filter, bloom.Hash(key, bloom.UnsignedTail)), nil
}

// Probe is like the function [Probe] for filter i of the block, 0 <= i < Len. With [EitherHash], it returns the
// signed hash if only that one passes. For policies other than [Bloom], Probe returns an error.
func (b *BlockReader) Probe(i int, key []byte) (Probes, error) {
	if !b.bloom {
		return Probes{}, fmt.Errorf("filter: policy %q has no Bloom filters", b.policy.Name())
	}
	one := b.Filter(i)
	p, err := Probe(one, key)
	if err == nil && p.Clear >= 0 && b.either && bloom.MayContainSigned(one, key) {
		p = probe(one, bloom.Hash(key, bloom.SignedTail))
		p.Signed = true
	}
	return p, err
}

// ProbeTable is like [Probe] for a filter from [TableBloom.Open]. For other filters, ok is false.
func ProbeTable(f TableFilter, key []byte) (p Probes, ok bool) {
	t, ok := f.(*tableBloomFilter)
	if !ok {
		return Probes{}, false
	}
	h := bloom.Hash(key, bloom.SignedTail)
	p = probeArray(t.line(h)[:], h, t.k)
	p.Signed, p.Line = true, uint32(uint64(h)%t.n)
	return p, true
}

// probe looks up the key with hash h in a filter that Check accepts.
func probe(filter []byte, h uint32) Probes {
	n := len(filter) - 1
	if filter[n] > bloom.MaxK {
		return Probes{Hash: h, Clear: -1}
	}
	return probeArray(filter[:min(n, bloom.MaxBits/8)], h, int(filter[n]))
}

// probeArray looks up the k bits of the key with hash h.
func probeArray(array []byte, h uint32, k int) Probes {
	p := Probes{Hash: h, Bits: make([]uint32, k), Clear: -1}
	for i, delta := 0, bloom.Delta(h); i < k; i++ {
		bit := uint32(uint64(h) % (8 * uint64(len(array))))
		if p.Bits[i] = bit; p.Clear < 0 && array[bit/8]>>(bit%8)&1 == 0 {
			p.Clear = i
		}
		h += delta
	}
	return p
}
