package fuse

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/filter"
)

// Narrow returns a copy of a filter with fingerprints of that many bits: 4, 8, 10, 12, 14 or 16, and at most as many
// as before. It is identical to the filter that a Policy of these bits builds from the same keys.
func Narrow(contents []byte, bits int) ([]byte, error) {
	if !slices.Contains(widths, bits) {
		return nil, errBits(bits)
	}
	i, err := Inspect(contents)
	if err != nil {
		return nil, err
	}
	if bits > i.Bits {
		return nil, fmt.Errorf("fuse: a filter with fingerprints of %d bits has none of %d: pass at most %d",
			i.Bits, bits, i.Bits)
	}
	size := packedSize(i.Fingerprints, bits)
	narrow := make([]byte, size+trailerLen)
	repack(narrow, contents, i.Fingerprints, bits, i.Bits)
	copy(narrow[size:], contents[len(contents)-trailerLen:])
	narrow[len(narrow)-1] = byte(bits)
	return narrow, nil
}

// repack copies the low bits of n fingerprints to to, which is clear and has room for a trailer after them.
func repack(to, from []byte, n uint64, toBits, fromBits int) {
	mask := uint64(1)<<toBits - 1
	var pending uint64 // bits to copy
	var have int       // number of them, < 32
	for i := range n {
		at := i * uint64(fromBits)
		pending |= uint64(binary.LittleEndian.Uint32(from[at>>3:])>>(at&7)) & mask << have
		if have += toBits; have >= 32 {
			binary.LittleEndian.PutUint32(to, uint32(pending))
			to, pending, have = to[4:], pending>>32, have-32
		}
	}
	binary.LittleEndian.PutUint32(to, uint32(pending))
}

// AtMost returns a policy like p whose Readers keep fingerprints of at most that many bits: 4, 8, 10, 12, 14 or 16.
// A Reader replaces a larger filter by the result of [Narrow]. If p already has a limit, the lower one applies.
//
//	reading, err := policy.AtMost(8)
//	r, err := table.Open(name, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{reading}})
//
// A Reader keeps the whole filter if the table was written with Never, is mapped, or is read from table.Bytes.
func (p Policy) AtMost(bits int) (filter.TablePolicy, error) {
	if !slices.Contains(widths, bits) {
		return nil, errBits(bits)
	}
	if p.most == 0 || bits < p.most {
		p.most = bits
	}
	return p, nil
}

// Narrow returns contents, or a narrower copy if p comes from AtMost and the filter has more bits.
func (p Policy) Narrow(contents []byte) ([]byte, error) {
	i, err := Inspect(contents)
	if err != nil || p.most == 0 || i.Bits <= p.most {
		return contents, err
	}
	return Narrow(contents, p.most)
}

// FilterBits returns the length of a filter's fingerprints in bits, or 0 if the filter is corrupt.
func (Policy) FilterBits(contents []byte) int {
	i, _ := Inspect(contents)
	return i.Bits
}
