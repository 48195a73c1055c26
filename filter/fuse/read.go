package fuse

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// trailerLen is the length of the trailer, which follows the fingerprints.
const trailerLen = 14

// An Inspection describes a filter.
type Inspection struct {
	Bits         int    // bits of a fingerprint: 4, 8, 10, 12, 14 or 16
	Fingerprints uint64 // number of fingerprints, about 1.13 for each key of a large filter
	Segments     uint64 // number of segments, at least 3
	SegmentLen   uint64 // fingerprints in each segment, a power of two
}

// Inspect describes a filter from its trailer, which does not contain the number of keys.
func Inspect(contents []byte) (Inspection, error) {
	size := len(contents) - trailerLen
	if size < 0 {
		return Inspection{}, fmt.Errorf("fuse: filter of %d bytes is too short (minimum %d)", len(contents), trailerLen)
	}
	trailer := contents[size:]
	lg, fingerprintBits := trailer[12], int(trailer[13])
	if !slices.Contains(widths, fingerprintBits) {
		return Inspection{}, fmt.Errorf("fuse: filter with fingerprints of %d bits: must be 4, 8, 10, 12, 14 or 16",
			fingerprintBits)
	}
	if lg > maxSegmentLg {
		return Inspection{}, fmt.Errorf("fuse: filter with segments of 2^%d fingerprints (maximum 2^%d)",
			lg, maxSegmentLg)
	}
	// The number of segments in which a key's first fingerprint can be.
	starts := uint64(binary.LittleEndian.Uint32(trailer[8:]))
	if starts == 0 {
		return Inspection{}, fmt.Errorf("fuse: filter of %d segments (minimum %d)", arity-1, arity)
	}
	i := Inspection{Bits: fingerprintBits, Segments: starts + arity - 1, SegmentLen: 1 << lg}
	i.Fingerprints = i.Segments << lg
	if want := packedSize(i.Fingerprints, fingerprintBits); uint64(size) != want {
		return Inspection{}, fmt.Errorf("fuse: filter with %d bytes of fingerprints: should be %d for %d of %d bits",
			size, want, i.Fingerprints, fingerprintBits)
	}
	return i, nil
}
