package fuse

import (
	"encoding/binary"
	"math/bits"
)

// filter returns the filter, after peel has removed all n hashes.
func (b *builder) filter(n int, seed uint64, fingerprintBits int) []byte {
	size := packedSize(b.fingerprints(), fingerprintBits)
	contents := make([]byte, size+trailerLen)
	b.setAll(contents, n, uint32(fingerprintBits))
	trailer := contents[size:]
	binary.LittleEndian.PutUint64(trailer, seed)
	binary.LittleEndian.PutUint32(trailer[8:], uint32(b.starts/uint64(b.segmentLen)))
	trailer[12], trailer[13] = byte(bits.TrailingZeros32(b.segmentLen)), byte(fingerprintBits)
	return contents
}

// setAll sets the fingerprints, in reverse order of removal. A fingerprint that is not set yet is 0.
func (b *builder) setAll(contents []byte, n int, width uint32) {
	s, mask := b.shape, uint16(1)<<width-1
	for r := n - 1; r >= 0; r-- {
		h := b.hashes[r]
		i, j, k := s.places(h)
		own := [4]uint32{i, j, k}[b.owns[r]&3]
		v := uint16(h^h>>32) ^ packed(contents, i, width) ^ packed(contents, j, width) ^ packed(contents, k, width)
		at := uint64(own) * uint64(width)
		around := contents[at>>3:]
		binary.LittleEndian.PutUint32(around, binary.LittleEndian.Uint32(around)|uint32(v&mask)<<(at&7))
	}
}

// word returns fingerprint i of 16 bits.
func word(contents []byte, i uint32) uint16 {
	return binary.LittleEndian.Uint16(contents[2*uint64(i):])
}

// packed returns fingerprint i of that many bits, with other bits above it. It spans up to three bytes. Reading a
// fourth is safe, since the trailer follows the fingerprints.
func packed(contents []byte, i, width uint32) uint16 {
	at := uint64(i) * uint64(width)
	return uint16(binary.LittleEndian.Uint32(contents[at>>3:]) >> (at & 7))
}
