package fuse

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
)

// Open returns contents ready for lookups. It keeps the slice, which the caller must not modify.
func (Policy) Open(contents []byte) (filter.TableFilter, error) {
	i, err := Inspect(contents)
	if err != nil {
		return nil, err
	}
	f := openFilter{
		shape:    shape{segmentLen: uint32(i.SegmentLen), starts: (i.Segments - arity + 1) * i.SegmentLen},
		contents: contents,
		seed:     binary.LittleEndian.Uint64(contents[len(contents)-trailerLen:]),
		bits:     uint32(i.Bits),
		mask:     uint16(1<<i.Bits - 1),
	}
	switch i.Bits {
	case 8:
		return &openFilter8{f}, nil
	case 16:
		return &openFilter16{f}, nil
	}
	return &f, nil
}

// An openFilter is a filter of any number of bits, whose form has been checked.
type openFilter struct {
	shape
	contents []byte
	seed     uint64
	bits     uint32
	mask     uint16
}

// Filters of 8 and 16 bits read their fingerprints faster.
type (
	openFilter8  struct{ openFilter }
	openFilter16 struct{ openFilter }
)

// Contains reports whether the fingerprint of key is found.
func (f *openFilter) Contains(key []byte) bool {
	h := mix(xxh3.Hash(key) + f.seed)
	return (uint16(h^h>>32)^f.xor(f.places(h)))&f.mask == 0
}

// Contains is openFilter's.
func (f *openFilter8) Contains(key []byte) bool {
	h := mix(xxh3.Hash(key) + f.seed)
	i, j, k := f.places(h)
	return byte(h^h>>32)^f.contents[i]^f.contents[j]^f.contents[k] == 0
}

// Contains is openFilter's.
func (f *openFilter16) Contains(key []byte) bool {
	h := mix(xxh3.Hash(key) + f.seed)
	i, j, k := f.places(h)
	return uint16(h^h>>32)^word(f.contents, i)^word(f.contents, j)^word(f.contents, k) == 0
}

// xor returns the exclusive or of three fingerprints, with other bits above it.
func (f *openFilter) xor(i, j, k uint32) uint16 {
	return packed(f.contents, i, f.bits) ^ packed(f.contents, j, f.bits) ^ packed(f.contents, k, f.bits)
}
