package fuse

import (
	"encoding/binary"
	"fmt"
)

// trailerLen is the length of what follows the fingerprints.
const trailerLen = 14

// An Inspection is what the bytes of a filter say about it.
type Inspection struct {
	Bits         int    // of each fingerprint: 4, 8, 10, 12, 14 or 16
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
		return Inspection{}, fmt.Errorf("fuse: filter with fingerprints of %d bits, want 4, 8, 10, 12, 14 or 16",
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
