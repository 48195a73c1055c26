package merge

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// maxChunk is the most bytes of a chunk: the places in it are 32-bit numbers.
const maxChunk = 1 << 30

// A chunk is pairs in memory, one after the other, keys with their numbers.
type chunk struct {
	data  []byte
	pairs []chunkPair
}

// A chunkPair is where a pair is in a chunk, and what decides most comparisons without it.
type chunkPair struct {
	prefix      uint64 // of the key, after what all keys of the chunk begin with
	at          uint32
	keyLen, len uint16
}

const chunkPairLen = 24 // 16, and half as much for what append leaves free

// fits reports whether there is room for a pair in a chunk of at most so many bytes. In an empty chunk there is.
func (c *chunk) fits(key, value []byte, size int) bool {
	return len(c.pairs) == 0 || len(c.data)+len(key)+len(value)+(len(c.pairs)+1)*chunkPairLen <= size
}

// reset empties the chunk, and keeps its memory for the next pairs.
func (c *chunk) reset() { c.data, c.pairs = c.data[:0], c.pairs[:0] }

// add adds a pair to a chunk of at most so many bytes.
func (c *chunk) add(key, value []byte, size int) {
	if n := len(c.data) + len(key) + len(value); n > cap(c.data) {
		c.data = append(make([]byte, 0, max(n, min(2*n, size))), c.data...) // append would leave more free
	}
	c.pairs = append(c.pairs, chunkPair{at: uint32(len(c.data)), keyLen: uint16(len(key)), len: uint16(len(key) + len(value))})
	c.data = append(append(c.data, key...), value...)
}

func (c *chunk) key(p chunkPair) []byte   { return c.data[p.at:][:p.keyLen:p.keyLen] }
func (c *chunk) value(p chunkPair) []byte { return c.data[p.at:][p.keyLen:p.len] }

// sort sorts the pairs.
func (c *chunk) sort(order runOrder) {
	if order.bytewise {
		skip := c.commonLen(order)
		for i, p := range c.pairs {
			c.pairs[i].prefix = prefixOf(order.prefix(c.key(p))[skip:])
		}
	}
	slices.SortFunc(c.pairs, func(a, b chunkPair) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return order.Compare(c.key(a), c.key(b))
	})
}

// commonLen returns how many bytes all keys begin with.
func (c *chunk) commonLen(order runOrder) int {
	var common []byte
	for i, p := range c.pairs {
		key := order.prefix(c.key(p))
		if i == 0 {
			common = key
		}
		if !bytes.HasPrefix(key, common) {
			n := 0
			for n < len(key) && key[n] == common[n] {
				n++
			}
			common = common[:n]
		}
	}
	return len(common)
}

// prefixOf returns the first bytes of a key as a number. Of two keys with different ones, that with the smaller one
// comes first.
func prefixOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var padded [8]byte
	copy(padded[:], key)
	return binary.BigEndian.Uint64(padded[:])
}

// iterator returns an Iterator of a sorted chunk, which only moves forward.
func (c *chunk) iterator() Iterator { return &chunkIterator{chunk: c, i: -1} }

type chunkIterator struct {
	Iterator // nil: a Sorter makes no other moves
	*chunk
	i int
}

func (it *chunkIterator) First() bool   { return it.Next() }
func (it *chunkIterator) Next() bool    { it.i++; return it.Valid() }
func (it *chunkIterator) Valid() bool   { return it.i < len(it.pairs) }
func (it *chunkIterator) Key() []byte   { return it.chunk.key(it.pairs[it.i]) }
func (it *chunkIterator) Value() []byte { return it.chunk.value(it.pairs[it.i]) }
func (it *chunkIterator) Error() error  { return nil }
func (it *chunkIterator) Close() error  { return nil }
