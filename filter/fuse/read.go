package fuse

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
)

const (
	// trailerLen is the length of what follows the fingerprints.
	trailerLen = 14

	// arity is how many fingerprints a key has, in as many segments.
	arity = 3

	// maxSegmentLg is the highest base-2 logarithm of a segment's length. Package xorfilter
	// takes a shift by 18 bits from the hash for the place in a segment.
	maxSegmentLg = 18
)

// An Inspection is what the bytes of a filter say about it.
type Inspection struct {
	Bits         int    // of each fingerprint: 4, 8, 10, 12 or 16
	Fingerprints uint64 // their number, about 1.13 for each key of a large filter
	Segments     uint64 // their number, ≥ 3
	SegmentLen   uint64 // fingerprints in each segment, a power of two
}

// Inspect returns what the bytes of a filter say about it. The number of keys is not part of that.
// It is an error if the bytes cannot be a filter.
func Inspect(contents []byte) (Inspection, error) {
	size := len(contents) - trailerLen
	if size < 0 {
		return Inspection{}, fmt.Errorf("fuse: filter of %d bytes, want at least %d", len(contents), trailerLen)
	}
	trailer := contents[size:]
	lg, fingerprintBits := trailer[12], int(trailer[13])
	if !validBits(fingerprintBits) {
		return Inspection{}, fmt.Errorf("fuse: filter with fingerprints of %d bits, want 4, 8, 10, 12 or 16",
			fingerprintBits)
	}
	if lg > maxSegmentLg {
		return Inspection{}, fmt.Errorf("fuse: filter with segments of 2^%d fingerprints, want at most 2^%d",
			lg, maxSegmentLg)
	}
	// Segments that a key's first fingerprint can be in.
	starts := uint64(binary.LittleEndian.Uint32(trailer[8:]))
	if starts == 0 {
		return Inspection{}, fmt.Errorf("fuse: filter of %d segments, want at least %d", arity-1, arity)
	}
	i := Inspection{Bits: fingerprintBits, Segments: starts + arity - 1, SegmentLen: 1 << lg}
	i.Fingerprints = i.Segments << lg
	if want := packedSize(i.Fingerprints, fingerprintBits); uint64(size) != want {
		return Inspection{}, fmt.Errorf("fuse: filter with %d bytes of fingerprints, want %d for %d of %d bits",
			size, want, i.Fingerprints, fingerprintBits)
	}
	return i, nil
}

// Open returns contents ready for lookups, and keeps the slice. It is an error if the bytes cannot
// be a filter: see [Inspect].
func (Policy) Open(contents []byte) (filter.TableFilter, error) {
	i, err := Inspect(contents)
	if err != nil {
		return nil, err
	}
	return &openFilter{
		contents:   contents,
		seed:       binary.LittleEndian.Uint64(contents[len(contents)-trailerLen:]),
		starts:     (i.Segments - arity + 1) * i.SegmentLen,
		segmentLen: uint32(i.SegmentLen),
		bits:       uint32(i.Bits),
		mask:       uint16(1<<i.Bits - 1),
	}, nil
}

// An openFilter is a filter whose form has been checked.
type openFilter struct {
	contents   []byte
	seed       uint64
	starts     uint64 // how many places a first fingerprint can have
	segmentLen uint32
	bits       uint32
	mask       uint16
}

// Contains reports whether the fingerprints of key are those of a key in the filter.
func (f *openFilter) Contains(key []byte) bool {
	h := mix(xxh3.Hash(key) + f.seed)
	i, j, k := f.places(h)
	return (uint16(h^h>>32)^f.fingerprint(i)^f.fingerprint(j)^f.fingerprint(k))&f.mask == 0
}

// places returns the places of a key's fingerprints. h is the hash of the key, mixed with the
// seed.
func (f *openFilter) places(h uint64) (i, j, k uint32) {
	first, _ := bits.Mul64(h, f.starts)
	inSegment := f.segmentLen - 1
	i = uint32(first)
	return i, (i + f.segmentLen) ^ uint32(h>>18)&inSegment, (i + 2*f.segmentLen) ^ uint32(h)&inSegment
}

// Probes are what a filter looks up for a key. [Probe] returns them.
type Probes struct {
	Hash   uint64    // of the key: the 64-bit XXH3
	Places [3]uint32 // of the fingerprints, counted from the start of the filter
	Want   uint16    // the fingerprint of the key
	Have   uint16    // the exclusive or of those at Places; if it is Want, the key may be in the filter
}

// Probe looks up key in a filter, and returns what decides the answer of Contains. It is for tools
// that explain a filter. ok is false if no [Policy] has opened f.
func Probe(f filter.TableFilter, key []byte) (p Probes, ok bool) {
	o, ok := f.(*openFilter)
	if !ok {
		return Probes{}, false
	}
	p.Hash = xxh3.Hash(key)
	h := mix(p.Hash + o.seed)
	p.Want = uint16(h^h>>32) & o.mask
	p.Places[0], p.Places[1], p.Places[2] = o.places(h)
	for _, i := range p.Places {
		p.Have ^= o.fingerprint(i) & o.mask
	}
	return p, true
}

// fingerprint returns fingerprint i, with other bits above it. All lie in two consecutive
// bytes, and the trailer follows the last one.
func (f *openFilter) fingerprint(i uint32) uint16 {
	at := uint64(i) * uint64(f.bits)
	return binary.LittleEndian.Uint16(f.contents[at>>3:]) >> (at & 7)
}

// mix is the 64-bit finalizer of MurmurHash3, with which package xorfilter mixes the seed in.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
