package tablefile

import (
	"math/rand/v2"
	"sync/atomic"
)

// refusals remembers the data blocks that a full Cache has recently refused. Admitting every block that is read
// costs more than it saves, since the block is decoded and copied, and evicts another. So a full Cache admits a
// block on its second read, if fewer other blocks than half its capacity were read in between. A scan then evicts
// nothing.
//
// There is at least one mark for every two blocks of a full Cache. A block belongs to one row of marks, and takes a
// random mark in it, so that two blocks cannot displace each other again and again.
type refusals struct{ rows [][rowLen]atomic.Uint32 }

const (
	rowLen  = 8
	maxRows = 1 << 20
)

// newRefusals returns refusals for a Cache with space for that many blocks.
func newRefusals(blocks int) *refusals {
	n := 2
	for n*rowLen < blocks/2 && n < maxRows {
		n <<= 1
	}
	return &refusals{make([][rowLen]atomic.Uint32, n)}
}

// enough reports whether there are enough marks for that many blocks.
func (r *refusals) enough(blocks int) bool {
	return r != nil && len(r.rows)*rowLen >= min(blocks/2, maxRows*rowLen)
}

// seenBefore reports whether the block was recently refused. If not, it notes the block as refused.
func (r *refusals) seenBefore(file uint64, block int) bool {
	hash := (file<<32 + uint64(block) + 1) * 0x9e3779b97f4a7c15 // 2⁶⁴ ÷ the golden ratio
	hash ^= hash >> 32
	hash *= 0x9e3779b97f4a7c15
	mark := uint32(hash) | 1 // 0 is none
	row := &r.rows[hash>>32&uint64(len(r.rows)-1)]
	for i := range row {
		if row[i].Load() == mark {
			return true
		}
	}
	row[rand.Uint32N(uint32(len(row)))].Store(mark)
	return false
}

// admits reports whether the Cache takes data block i, which is about to be read. A Cache with free space takes
// every block. f must have a cache.
func (f *File) admits(i int, noFill bool) bool {
	if noFill {
		return false
	}
	refused := f.cache.refused.Load()
	return refused == nil || refused.seenBefore(f.cachedFile.number, i)
}

// maxCachedBlock is the size of the largest block that is cached, in bytes. A larger block takes long to read
// anyway, and caching it needs memory for a copy.
const maxCachedBlock = 4 << 20

// fits reports whether the Cache takes a block of that many bytes.
func (c *Cache) fits(size int) bool {
	return size <= maxCachedBlock && int64(size)+cacheEntrySize <= c.Budget
}
