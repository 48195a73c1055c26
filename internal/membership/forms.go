package membership

import (
	"bytes"
	"slices"

	"github.com/sievetable/sievetable/filter"
)

// bitsPerKey is the usual number.
const bitsPerKey = 10

// bloom is one filter of all keys.
type bloom struct {
	policy filter.Bloom
	filter filter.Bytes
}

func newBloom(keys [][]byte) Set {
	b := &bloom{policy: filter.NewBloom(bitsPerKey)}
	g := b.policy.NewGenerator()
	for _, k := range keys {
		g.Add(k)
	}
	g.Generate(&b.filter)
	return b
}

func (b *bloom) Contains(key []byte) bool { return b.policy.Contains(b.filter, key) }

// atOnce is the number of bits that package filter checks before it decides whether to go on.
const atOnce = 3

// Probes finds the first bit of the key that is not set: a filter's last byte is k, and with a
// smaller k the same filter looks at the first bits only. It changes that byte for a moment.
func (b *bloom) Probes(key []byte) int {
	last := &b.filter[len(b.filter)-1]
	k := *last
	defer func() { *last = k }()
	for *last = min(atOnce, k); *last < k; *last = min(*last+atOnce, k) {
		if !b.Contains(key) {
			break
		}
	}
	return int(*last)
}

// sorted is searched by halves.
type sorted [][]byte

func newSorted(keys [][]byte) Set { return sorted(keys) }

func (s sorted) Contains(key []byte) bool {
	_, found := slices.BinarySearchFunc(s, key, bytes.Compare)
	return found
}

func (s sorted) Probes(key []byte) int {
	n := 0
	_, _ = slices.BinarySearchFunc(s, key, func(a, b []byte) int {
		n++
		return bytes.Compare(a, b)
	})
	return n
}

type hashed map[string]struct{}

func newHashed(keys [][]byte) Set {
	h := make(hashed, len(keys))
	for _, k := range keys {
		h[string(k)] = struct{}{}
	}
	return h
}

func (h hashed) Contains(key []byte) bool {
	_, found := h[string(key)]
	return found
}

// Probes returns 0: a map does not report how many slots it compares.
func (hashed) Probes([]byte) int { return 0 }

// list is compared key by key, from its start.
type list [][]byte

func newList(keys [][]byte) Set { return list(keys) }

func (l list) Contains(key []byte) bool { return l.index(key) < len(l) }

func (l list) Probes(key []byte) int { return min(l.index(key)+1, len(l)) }

// index returns where key is, len(l) if it is not there.
func (l list) index(key []byte) int {
	for i, k := range l {
		if bytes.Equal(k, key) {
			return i
		}
	}
	return len(l)
}
