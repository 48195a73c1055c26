package table

import "github.com/sievetable/sievetable/internal/tablefile"

// A Cache keeps data blocks in memory, decoded. Any number of Readers can share a Cache: set
// ReaderOptions.Cache. It is safe for concurrent use. The zero value keeps nothing.
//
// Finding a block in the Cache takes one atomic load and no lock. Adding a block takes a lock. If the Cache
// is full, it evicts blocks by the CLOCK algorithm: a hand goes around the ring of all blocks, and evicts
// those that were not used since it came by last. New blocks count as not used, so that a long scan does not
// evict the blocks that are used again and again.
//
// A full Cache admits a block on its second read, if fewer other blocks than half its capacity were read
// in between. A block that is read only once is not cached, and evicts nothing.
//
// Lookups and iterators add the blocks that they read, unless their options say DontFillCache; Verify does
// not. These blocks are never added, and are read each time:
//
//   - blocks that take more than 4 MiB, or more than the size of the Cache;
//   - blocks with more than 16,384 entries, or whose keys take more than
//     1 MiB, or more than 16 KiB plus four times the block;
//   - blocks that a lookup reads because of a filter's false positive.
//
// A value that Get has returned keeps its block in memory after its eviction. The Cache does
// not count that memory.
//
// A Reader without a [ReaderOptions].CacheKey has its own blocks, even if two Readers are on the
// same file. Its Close removes them. If it is dropped without Close, its blocks stay until they
// are evicted. Readers with the same CacheKey share their blocks, which stay after Close. If one
// of them is dropped without Close, the Cache never frees 8 bytes for each data block of the file.
type Cache struct{ c tablefile.Cache }

// NewCache returns an empty Cache that takes up to that many bytes of memory. If bytes is <= 0 it keeps nothing. It
// should have space for many blocks.
//
// In a decoded block an entry takes its whole key, its value and about 22 bytes. That is 138 bytes with a key of 16
// bytes and a value of 100 bytes, and it can be far more than in the file, where keys share bytes and blocks are
// compressed.
func NewCache(bytes int64) *Cache { return &Cache{tablefile.Cache{Budget: bytes}} }

// Size returns how many bytes of memory the blocks in the Cache take. How often blocks were found in it, and how many it
// has evicted, is in the [Metrics] of Readers.
func (c *Cache) Size() int64 {
	_, _, size := c.c.Use()
	return size
}
