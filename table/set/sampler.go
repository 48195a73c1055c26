package set

import (
	"fmt"
	"hash"
	"hash/fnv"
	"maps"
	"math"
	"slices"
)

// A Sampler keeps a sample of keys, and splits all keys into ranges of about equal size. It keeps a key if
// the key's hash is below a threshold, so it keeps the same keys in every process, in any order, and however
// often a key is added. To join the samples of several inputs, add the Keys of the other Samplers.
//
// It keeps about rate*n of n distinct keys, and takes their bytes and about 60 bytes for each. Keys that
// were chosen for their hashes may all be kept. A Sampler is not safe for concurrent use.
type Sampler struct {
	below uint64      // a hash of 53 bits
	hash  hash.Hash64 // FNV-1a
	keys  map[string]struct{}
}

// hashBits is the number of the bits of a hash that are compared with the rate: as many as a
// float64 has.
const hashBits = 53

// NewSampler returns a Sampler that keeps a fraction of the keys. rate is > 0 and <= 1, which keeps all. If
// it keeps 1,000 keys for each part of [Sampler.Splits], the parts differ by about 3 %.
func NewSampler(rate float64) (*Sampler, error) {
	if !(rate > 0 && rate <= 1) {
		return nil, fmt.Errorf("set: the rate of a Sampler is %v, want > 0 and ≤ 1", rate)
	}
	below := uint64(math.Ceil(rate * (1 << hashBits)))
	return &Sampler{below: below, hash: fnv.New64a(), keys: map[string]struct{}{}}, nil
}

// Add adds a key. The caller may reuse the slice.
func (s *Sampler) Add(key []byte) {
	s.hash.Reset()
	s.hash.Write(key) // never fails
	// The finalizer of MurmurHash3, without which the upper bits of short keys are not uniform.
	h := s.hash.Sum64()
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	if h>>(64-hashBits) < s.below {
		s.keys[string(key)] = struct{}{}
	}
}

// Len returns the number of distinct keys that are kept.
func (s *Sampler) Len() int { return len(s.keys) }

// Keys returns the kept keys in ascending order. The caller owns the slices.
func (s *Sampler) Keys() [][]byte {
	keys := make([][]byte, 0, len(s.keys))
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		keys = append(keys, []byte(key))
	}
	return keys
}

// Splits returns keys that split all keys into the given number of parts, with about as many distinct keys
// each. Part i contains the keys >= Splits[i-1] and < Splits[i]. There are parts-1 splits in strictly
// ascending order, or fewer if fewer keys are kept. The caller owns the slices.
func (s *Sampler) Splits(parts int) [][]byte {
	keys := s.Keys()
	parts = min(parts, len(keys))
	var splits [][]byte
	for i := 1; i < parts; i++ {
		splits = append(splits, keys[uint64(i)*uint64(len(keys))/uint64(parts)])
	}
	return splits
}
