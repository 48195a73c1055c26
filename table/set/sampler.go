package set

import (
	"fmt"
	"hash"
	"hash/fnv"
	"maps"
	"math"
	"slices"
)

// A Sampler keeps a sample of keys, and splits all keys into ranges of about equal size. It chooses keys by hash, so
// all processes keep the same keys, however often they occur. To join samples, add the other Samplers' Keys. A
// Sampler is not safe for concurrent use.
type Sampler struct {
	below uint64      // keys with a smaller 53-bit hash are kept
	hash  hash.Hash64 // FNV-1a
	keys  map[string]struct{}
}

// hashBits is the number of hash bits that are compared with the rate: the precision of a float64.
const hashBits = 53

// NewSampler returns a Sampler that keeps a fraction of the keys: 0 < rate <= 1. With 1,000 kept keys per part, parts
// differ by about 3 %.
func NewSampler(rate float64) (*Sampler, error) {
	if !(rate > 0 && rate <= 1) {
		return nil, fmt.Errorf("set: the rate of a Sampler is %v: must be > 0 and ≤ 1", rate)
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

// Splits returns the parts-1 keys that split all keys into parts with about the same number of distinct keys each. If
// fewer than parts keys are kept, each is in a part of its own. Part i of [BuilderOptions] contains the keys >=
// Splits[i-2] and < Splits[i-1]. The caller owns the slices.
func (s *Sampler) Splits(parts int) [][]byte {
	keys := s.Keys()
	parts = min(parts, len(keys))
	var splits [][]byte
	for i := 1; i < parts; i++ {
		splits = append(splits, keys[uint64(i)*uint64(len(keys))/uint64(parts)])
	}
	return splits
}
