// Package chunk sorts pairs in memory.
package chunk

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
)

// A Chunk holds pairs in memory. It can be used again after Reset.
type Chunk struct {
	Max int // bytes to fill; at most 1 GiB, since places are 32-bit numbers

	data  []byte // for each pair: the key, the length of the value, and the value
	pairs []pair
}

// A pair locates a key and its value in data. Most comparisons need only its number.
type pair struct {
	number uint64 // the first bytes of the key after the common prefix of all keys
	at     uint32
	keyLen uint32
}

// PairSize is the memory of a pair in addition to its key and value: 16 bytes, and 8 that append may leave unused.
const PairSize = 24

// Fits reports whether there is room for a pair. An empty Chunk has room for any.
func (c *Chunk) Fits(key, value []byte) bool {
	return len(c.pairs) == 0 || len(c.data)+len(key)+len(value)+(len(c.pairs)+1)*PairSize <= c.Max
}

// Append adds a pair. It does not keep the slices.
func (c *Chunk) Append(key, value []byte) {
	n := len(c.data) + len(key) + binary.MaxVarintLen32 + len(value)
	if n > cap(c.data) {
		c.data = append(make([]byte, 0, max(n, min(2*n, c.Max))), c.data...) // append would leave more free
	}
	c.pairs = append(c.pairs, pair{at: uint32(len(c.data)), keyLen: uint32(len(key))})
	c.data = binary.AppendUvarint(append(c.data, key...), uint64(len(value)))
	c.data = append(c.data, value...)
}

// Len returns the number of pairs.
func (c *Chunk) Len() int { return len(c.pairs) }

// Pair returns pair i, as part of the Chunk's memory.
func (c *Chunk) Pair(i int) (key, value []byte) {
	key = c.key(c.pairs[i])
	rest := c.data[int(c.pairs[i].at)+len(key):]
	size, n := binary.Uvarint(rest)
	return key, rest[n:][:size:size]
}

func (c *Chunk) key(p pair) []byte { return c.data[p.at:][:p.keyLen:p.keyLen] }

// Reset removes the pairs, and keeps the memory.
func (c *Chunk) Reset() { c.data, c.pairs = c.data[:0], c.pairs[:0] }

// Sort sorts the pairs by their keys. prefix returns a prefix of a key, or nil. If the prefixes of two keys differ,
// compare must order the keys as bytes.Compare orders the prefixes.
func (c *Chunk) Sort(compare func(a, b []byte) int, prefix func(key []byte) []byte) {
	if len(c.pairs) > 0 {
		common := prefix(c.key(c.pairs[0]))
		for _, p := range c.pairs {
			common = common[:format.SharedLen(common, prefix(c.key(p)))]
		}
		for i, p := range c.pairs {
			c.pairs[i].number = format.First8(prefix(c.key(p))[len(common):])
		}
	}
	slices.SortFunc(c.pairs, func(a, b pair) int {
		if a.number != b.number {
			return cmp.Compare(a.number, b.number)
		}
		return compare(c.key(a), c.key(b))
	})
}
