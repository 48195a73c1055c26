package sorting

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A chunk is records in memory.
type chunk struct {
	blocks [][]byte // the records, one after the other
	free   []byte   // the rest of the last block
	refs   []recordRef
	size   int // about how much memory it takes
}

// A recordRef is where a record is in a chunk, and what decides most comparisons without it.
type recordRef struct {
	prefix uint64 // of the key, after what all keys of the chunk start with
	block  uint32
	start  uint16
	length uint16
}

const (
	blockLen     = 64 << 10
	batchSize    = blockLen // of a chunk of merged records
	recordRefLen = 24       // 16, and half as much for what append leaves free
)

// fits reports whether a chunk that may take limit bytes has room for a record of n bytes. An
// empty chunk has.
func (c *chunk) fits(n, limit int) bool {
	return c.size == 0 || c.size+n+recordRefLen <= limit
}

// add adds a record of n bytes, and returns it for its bytes to be set.
func (c *chunk) add(n int) encodedRecord {
	if n > len(c.free) {
		c.size += len(c.free)
		c.free = make([]byte, blockLen)
		c.blocks = append(c.blocks, c.free)
	}
	c.refs = append(c.refs, recordRef{block: uint32(len(c.blocks) - 1), start: uint16(blockLen - len(c.free)), length: uint16(n)})
	r := c.free[:n:n]
	c.free = c.free[n:]
	c.size += n + recordRefLen
	return r
}

func (c *chunk) record(r recordRef) encodedRecord {
	return c.blocks[r.block][r.start:][:r.length:r.length]
}

// sortChunk sorts the records, and returns what all their keys start with.
func (s *sorter) sortChunk(c *chunk) (common []byte) {
	common = s.commonPrefix(c)
	for i := range c.refs {
		c.refs[i].prefix = s.prefixAfter(common, c.record(c.refs[i]))
	}
	slices.SortFunc(c.refs, func(a, b recordRef) int {
		if a.prefix != b.prefix {
			return comparePrefixes(a.prefix, b.prefix)
		}
		return s.compare(c.record(a), c.record(b))
	})
	return common
}

func comparePrefixes(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1
}

// commonPrefix returns what all keys of a chunk start with.
func (s *sorter) commonPrefix(c *chunk) []byte {
	if s.options.NotBytewise {
		return nil
	}
	common := s.keyPrefix(c.record(c.refs[0]))
	for _, r := range c.refs {
		if len(common) == 0 {
			break
		}
		common = sharedPrefix(common, s.keyPrefix(c.record(r)))
	}
	return bytes.Clone(common)
}

func sharedPrefix(a, b []byte) []byte {
	if bytes.HasPrefix(b, a) {
		return a
	}
	n := 0
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// prefixAfter returns the bytes of a key that come after what all keys start with. Of two keys
// with different ones, the key with the smaller one comes first.
func (s *sorter) prefixAfter(common []byte, r encodedRecord) uint64 {
	if s.options.NotBytewise {
		return 0
	}
	key := s.keyPrefix(r)[len(common):]
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var padded [8]byte
	copy(padded[:], key)
	return binary.BigEndian.Uint64(padded[:])
}
