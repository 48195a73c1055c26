package filter

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/bloom"
)

// Probes are the bits that a Bloom filter looks up for a key. [Probe], [ProbeTable] and
// [BlockReader.Probe] return them.
type Probes struct {
	Hash   uint32 // the hash of the key
	Signed bool   // the hash takes the bytes behind the last whole 4 as signed: see EitherHash
	Line   uint32 // in a TableBloom filter, the number of the line with the bits; else 0

	// Bits are the k bits in the order of lookup: positions in the bit array, or in the line. There
	// are none if k > 30.
	Bits []uint32

	// Clear is the index in Bits of the first bit that is 0, where the lookup ends. −1: the filter
	// may contain the key.
	Clear int
}

// Probe looks up key in a [Bloom] filter, and returns the bits that decide the answer of
// Contains. It is for tools that explain a filter, and slower than Contains. It is an error if
// the filter is damaged.
func Probe(filter, key []byte) (Probes, error) {
	if err := (Bloom{}).Check(filter); err != nil {
		return Probes{}, err
	}
	return probe(filter, bloom.Hash(key, bloom.UnsignedTail)), nil
}

// Probe is the function Probe for filter i of the block, 0 ≤ i < Len. If the block is read with
// [EitherHash], the bits are those of the hash that decides: the signed one if only that has the
// key. It is an error if the filter is damaged, has no keys, or is no [Bloom] filter.
func (b *BlockReader) Probe(i int, key []byte) (Probes, error) {
	if !b.bloom {
		return Probes{}, fmt.Errorf("filter: the filters are of policy %q, want Bloom filters", b.policy.Name())
	}
	one := b.Filter(i)
	p, err := Probe(one, key)
	if err == nil && p.Clear >= 0 && b.EitherHash() && bloom.MayContainSigned(one, key) {
		p = probe(one, bloom.Hash(key, bloom.SignedTail))
		p.Signed = true
	}
	return p, err
}

// probe looks the key with hash h up in a filter that is sound.
func probe(filter []byte, h uint32) Probes {
	n := len(filter) - 1
	k := int(filter[n])
	if k > bloom.MaxK {
		return Probes{Hash: h, Clear: -1}
	}
	p := Probes{Hash: h, Bits: probedBits(h, k, min(8*uint64(n), bloom.MaxBits))}
	p.Clear = firstClear(filter[:n], p.Bits)
	return p
}

// ProbeTable is Probe for a filter of a whole table. ok is false if [TableBloom] did not open
// f.
func ProbeTable(f TableFilter, key []byte) (p Probes, ok bool) {
	t, ok := f.(*tableBloomFilter)
	if !ok {
		return Probes{}, false
	}
	h := bloom.Hash(key, bloom.SignedTail)
	p = Probes{Hash: h, Signed: true, Line: uint32(uint64(h) % t.n), Bits: probedBits(h, t.k, lineBits)}
	p.Clear = firstClear(t.line(h)[:], p.Bits)
	return p, true
}

// probedBits returns the bits of the key with hash h in an array of n bits.
func probedBits(h uint32, k int, n uint64) []uint32 {
	bits := make([]uint32, k)
	delta := bloom.Delta(h)
	for i := range bits {
		bits[i] = uint32(uint64(h) % n)
		h += delta
	}
	return bits
}

// firstClear returns the index of the first of the bits that is 0 in array, or −1.
func firstClear(array []byte, bits []uint32) int {
	for i, bit := range bits {
		if array[bit/8]>>(bit%8)&1 == 0 {
			return i
		}
	}
	return -1
}
