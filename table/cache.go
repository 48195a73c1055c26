package table

import (
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/internal/decoded"
)

// A Cache keeps data blocks in memory, so that lookups and iterators need not read,
// decompress and check them again. Any number of Readers can share a Cache: set
// ReaderOptions.Cache. It is safe for concurrent use. NewCache returns one; the zero value
// keeps nothing.
//
// To find a block in the Cache takes one atomic load and no lock. To add a block takes a
// lock. If the Cache is full, it evicts blocks by the CLOCK algorithm: a hand goes around the
// ring of all blocks, and evicts those that were not used since it came by last. New blocks
// count as not used, so that a long scan does not evict the blocks that are used again and
// again.
//
// While the Cache has space, it keeps blocks decoded, so that an entry is found in the least time.
// Once full, it admits a block on its second read, if fewer other blocks than half its capacity were
// read in between. What is read once costs no memory and no lock, and evicts nothing.
// It keeps such a block as it is in the file, where most blocks are compressed: so there is space for
// more of them. To find an entry takes longer then. So a block that is used eight times before the
// hand comes to it is decoded, and lookups use its entries. The copy as it is in the file takes memory
// until the hand comes to that. Blocks of a source that hands out its bytes, see [SliceReaderAt], are
// always kept decoded.
//
// Lookups and iterators add the blocks that they read, unless their options say DontFillCache; Verify does
// not. These blocks are never added, and are read each time:
//
//   - blocks that take more than 4 MiB, or more than the size of the Cache;
//   - while the Cache has space: blocks with more than 16,384 entries, or whose keys take more than
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
type Cache struct {
	budget int64 // maximum of size

	refused atomic.Pointer[refusals] // nil: nothing was evicted, or there is much space since

	mu        sync.Mutex
	size      int64 // bytes of all entries, and of what closed files keep
	entries   clock.Clock[cacheEntry, *cacheEntry]
	files     map[cacheID]*cachedFile
	opened    uint64 // number of files that have been opened
	evictions uint64
}

// A cacheEntry is a block in the ring of a Cache.
type cacheEntry struct {
	block   *decoded.Cached
	file    *cachedFile
	metrics *Metrics // of the Reader that added the entry
	number  int      // of the block in its file
	links   clock.Links[cacheEntry]

	filePrev, fileNext *cacheEntry // in the list of the file
}

// cacheEntrySize is the size of a cacheEntry in bytes.
const cacheEntrySize = 64

// ClockLinks returns the neighbors of s in the ring.
func (s *cacheEntry) ClockLinks() *clock.Links[cacheEntry] { return &s.links }

// size returns how many bytes of memory s takes, with its block.
func (s *cacheEntry) size() int64 { return int64(s.block.Size()) + cacheEntrySize }

// NewCache returns an empty Cache that takes up to that many bytes of memory. If bytes is ≤
// 0 it keeps nothing. It should have space for many blocks.
//
// In a decoded block an entry takes its whole key, its value and about 22 bytes. That is 138 bytes
// with a key of 16 bytes and a value of 100 bytes, and it can be far more than in the file, where
// keys share bytes and blocks are compressed.
func NewCache(bytes int64) *Cache { return &Cache{budget: bytes} }

// add adds a block in place of the copy before, if there is one, and evicts others for it. It does
// nothing if the file has another copy by now or is closed. The copy before stays in the ring, where
// the hand finds it unused.
func (c *Cache) add(s *cacheEntry, before *decoded.Cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.file.readers == 0 || !s.file.blocks[s.number].CompareAndSwap(before, s.block) {
		return
	}
	c.link(s)
	c.evict()
}

// evict removes blocks until the rest fits into the budget.
func (c *Cache) evict() {
	if n := c.entries.Len(); c.size > c.budget && !c.refused.Load().enough(n) {
		c.refused.Store(newRefusals(n))
	}
	for c.size > c.budget {
		s := c.entries.Take(func(s *cacheEntry) bool { return s.block.Touched() })
		c.drop(s)
		c.evictions++
		if m := s.metrics; m != nil {
			m.CacheEvictions.Add(1)
		}
	}
}

// link adds s to the ring, where the hand comes last, and to the list of its file.
func (c *Cache) link(s *cacheEntry) {
	c.entries.AddLast(s)
	if s.fileNext = s.file.entries; s.fileNext != nil {
		s.fileNext.filePrev = s
	}
	s.file.entries = s
	c.size += s.size()
}

// remove removes s and its block.
func (c *Cache) remove(s *cacheEntry) {
	c.entries.Remove(s)
	c.drop(s)
}

// drop removes the block of s, which is not in the ring any more, and the file if that is not needed any more.
func (c *Cache) drop(s *cacheEntry) {
	if c.size -= s.size(); c.size < c.budget-c.budget/8 {
		c.refused.Store(nil)
	}
	s.unlinkFromFile()
	s.file.blocks[s.number].CompareAndSwap(s.block, nil)
	c.dropUnused(s.file)
}

// unlinkFromFile removes s from its file's list.
func (s *cacheEntry) unlinkFromFile() {
	if s.fileNext != nil {
		s.fileNext.filePrev = s.filePrev
	}
	if s.filePrev != nil {
		s.filePrev.fileNext = s.fileNext
	} else {
		s.file.entries = s.fileNext
	}
}

// storedCopy returns data block i as it is in the file, or nil if it is not in the cache so. It counts
// nothing.
func (t *openTable) storedCopy(i int) *decoded.Cached {
	if t.cachedBlocks == nil {
		return nil
	}
	if c := t.cachedBlocks[i].Load(); c != nil && c.IsStored() {
		return c
	}
	return nil
}

// cached returns data block i, or nil if it is not in the cache. It counts a hit or a miss in the
// Reader's Metrics.
func (t *openTable) cached(i int) *decoded.Cached {
	if t.cachedBlocks == nil {
		return nil
	}
	b := t.cachedBlocks[i].Load()
	if b != nil {
		b.Touch()
	}
	if m := t.o.Metrics; m != nil {
		if b != nil {
			m.CacheHits.Add(1)
		} else {
			m.CacheMisses.Add(1)
		}
	}
	return b
}

// CacheMetrics count what a Cache does. [Cache.Metrics] returns them. How often blocks were found
// in it is in the [Metrics] of Readers.
type CacheMetrics struct {
	Evictions uint64 // data blocks that the Cache removed to add others
	Blocks    int    // copies of data blocks in the Cache
	Size      int64  // bytes of memory that they take
}

// Metrics returns what the Cache has done so far, and what it has.
func (c *Cache) Metrics() CacheMetrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheMetrics{Evictions: c.evictions, Blocks: c.entries.Len(), Size: c.size}
}
