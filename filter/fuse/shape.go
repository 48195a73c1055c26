package fuse

import (
	"math"
	"math/bits"
)

const (
	// arity is the number of fingerprints of a key, each in another segment.
	arity = 3

	// maxSegmentLg is the maximum log2 of a segment's length: the place in a segment takes 18 bits of the hash.
	maxSegmentLg = 18
)

// A shape describes how a filter is cut into segments.
type shape struct {
	segmentLen uint32 // fingerprints in each segment, a power of two
	starts     uint64 // number of places for a first fingerprint: all but the last two segments
}

// shapeOf returns Pebble's shape for a filter of n keys.
func shapeOf(n int) shape {
	keys := float64(n)
	length := math.Exp2(math.Min(math.Floor(math.Log(keys)/math.Log(3.33)+2.25), maxSegmentLg))
	capacity := 0.0
	if n > 1 {
		capacity = math.Round(keys * math.Max(1.125, 0.875+0.25*math.Log(1e6)/math.Log(keys)))
	}
	segments := math.Max(math.Ceil(capacity/length), arity)
	return shape{segmentLen: uint32(length), starts: uint64((segments - arity + 1) * length)}
}

func (s shape) fingerprints() uint64 { return s.starts + (arity-1)*uint64(s.segmentLen) }

// halved returns a shape with as many fingerprints in segments of half the length.
func (s shape) halved() shape {
	return shape{segmentLen: s.segmentLen / 2, starts: s.starts + uint64(s.segmentLen)}
}

// places returns the places of a key's fingerprints. h is the hash of the key, mixed with the seed.
func (s *shape) places(h uint64) (i, j, k uint32) {
	first, _ := bits.Mul64(h, s.starts)
	inSegment := s.segmentLen - 1
	i = uint32(first)
	return i, (i + s.segmentLen) ^ uint32(h>>18)&inSegment, (i + 2*s.segmentLen) ^ uint32(h)&inSegment
}

// packedSize returns the length in bytes of n packed fingerprints, with the spare bytes.
func packedSize(n uint64, bits int) uint64 {
	size := (n*uint64(bits) + 7) / 8
	switch bits {
	case 10:
		size += 3
	case 12:
		size = (n+1)/2*3 + 1 // always whole pairs
	}
	return size
}

// mix is the 64-bit finalizer of MurmurHash3. The caller has added the seed to h.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// seedOf returns the seed of an attempt, from 1 on: the sequence of SplitMix64.
func seedOf(attempt int) uint64 {
	z := 1 + uint64(attempt)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
