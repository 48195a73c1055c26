package fuse

import (
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/filter"
)

// Narrow returns a filter of the same keys with fewer bits per fingerprint: 4, 8, 10, 12, 14 or 16. The
// bytes are those of the filter that [New] of so many bits builds. It contains every key that the given
// filter contains, and a share of 2^-bits of the absent keys. The slice is a new one.
//
// If the given filter is corrupt, has fewer bits, or if there are no filters of so many bits, Narrow returns
// an error.
func Narrow(contents []byte, bits int) ([]byte, error) {
	if !validBits(bits) {
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

// repack puts the low bits of n fingerprints into to, which is clear and has a trailer behind them.
func repack(to, from []byte, n uint64, toBits, fromBits int) {
	mask := uint64(1)<<toBits - 1
	var pending uint64 // bits that are not in to yet
	var have int       // their number, < 32
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

// AtMost returns a policy that writes the filters of p, and reads filters with fingerprints of at most the
// given number of bits: 4, 8, 10, 12, 14 or 16. Another number is an error. A limit that p already has
// can only become lower.
//
//	reading, err := policy.AtMost(8)
//	r, err := table.Open(name, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{reading}})
//
// For a wider filter, a Reader keeps the copy that [Narrow] returns, so it takes the memory of so many bits.
// A Reader keeps the filter as it is if the table was written with Never, which promises more than the copy
// can hold, and if the table is mapped or in memory, where a copy takes more memory. Open by itself narrows
// nothing.
func (p Policy) AtMost(bits int) (filter.TablePolicy, error) {
	if !validBits(bits) {
		return nil, errBits(bits)
	}
	if p.most == 0 || bits < p.most {
		p.most = bits
	}
	return p, nil
}

// Narrow returns contents, or a narrower copy if p is a policy of AtMost and the filter is wider. If the
// filter is corrupt, Narrow returns an error.
func (p Policy) Narrow(contents []byte) ([]byte, error) {
	i, err := Inspect(contents)
	if err != nil || p.most == 0 || i.Bits <= p.most {
		return contents, err
	}
	return Narrow(contents, p.most)
}

// FilterBits returns how many bits the fingerprints of a filter have, or 0 if it is corrupt.
func (Policy) FilterBits(contents []byte) int {
	i, _ := Inspect(contents)
	return i.Bits
}
