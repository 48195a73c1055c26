package table

import (
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/decoded"
)

// A Cache keeps data blocks in memory, decompressed, checked and made for
// searching, so that lookups and iterators need not read them again. Any number
// of Readers may share one ([ReaderOptions].Cache), and it is safe for concurrent
// use.
//
// What it finds costs a lookup one atomic load; it takes a lock only to keep a
// block that was read. Blocks give way to new ones by the CLOCK algorithm: one
// that was used since the hand last passed is spared once. New ones are not, so
// that a scan of many does not drive out those that are asked for again and again.
//
// Some blocks are not kept, and read each time: those that take more than 4 MiB, or
// than the whole budget, those with more entries or longer keys than
// [decoded.Block] are for, and one that was read only because a filter was wrong.
// Values that Get returned keep their blocks in memory, beyond the budget, when
// these have given way to others.
//
// Iterators fill the Cache as lookups do; Verify does not use it. Each Reader has
// blocks of its own, even if two are on the same file. They leave when it is
// closed. One that was dropped without Close leaves its blocks behind, until others
// take their place.
type Cache struct {
	budget int64

	mu   sync.Mutex
	size int64       // of all blocks
	n    int         // how many there are,
	hand *cacheEntry // in a ring: the one that is next to give way; nil if there is none
}

// cacheEntry is a block in the ring of a Cache.
type cacheEntry struct {
	block      *decoded.Cached
	size       int64
	slot       *atomic.Pointer[decoded.Cached]
	owner      *cacheOwner
	prev, next *cacheEntry // in the ring

	ownerPrev, ownerNext *cacheEntry // among those of the owner
}

// cacheEntrySize is what a cacheEntry takes.
const cacheEntrySize = 64

// cacheOwner is a Reader as its Cache knows it: without the Reader, which its blocks
// must not keep in memory, nor its file open, if it is dropped without Close.
type cacheOwner struct {
	metrics *Metrics
	closed  bool
	entries *cacheEntry // the first of its entries; nil if it has none
}

// NewCache returns an empty Cache that keeps up to that many bytes, with what it
// takes to find them. An entry takes its whole key, its value, and some 22 bytes:
// 138 bytes with a key of 16 and a value of 100, and more than in the file where
// keys share much. One of a few blocks' size keeps next to nothing; one of 0 bytes
// and below is as good as none.
func NewCache(bytes int64) *Cache { return &Cache{budget: bytes} }

// Size returns how many bytes the Cache keeps.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// add keeps a block, unless its slot is taken or its Reader closed by now.
func (c *Cache) add(s *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.owner.closed || !s.slot.CompareAndSwap(nil, s.block) {
		return
	}
	c.link(s)
	for visits := 0; c.size > c.budget; visits++ {
		s := c.hand
		c.hand = s.next
		if s.block.Touched() && visits < c.n { // not for ever, however often they are used meanwhile
			continue
		}
		c.remove(s)
		if m := s.owner.metrics; m != nil {
			m.CacheEvictions.Add(1)
		}
	}
}

// link puts s where the hand comes last.
func (c *Cache) link(s *cacheEntry) {
	if c.hand == nil {
		s.prev, s.next, c.hand = s, s, s
	} else {
		s.prev, s.next = c.hand.prev, c.hand
		s.prev.next, s.next.prev = s, s
	}
	if s.ownerNext = s.owner.entries; s.ownerNext != nil {
		s.ownerNext.ownerPrev = s
	}
	s.owner.entries = s
	c.size += s.size
	c.n++
}

// remove takes s out of the ring, and its block out of its slot.
func (c *Cache) remove(s *cacheEntry) {
	s.slot.Store(nil)
	s.prev.next, s.next.prev = s.next, s.prev
	if c.hand == s {
		c.hand = s.next
	}
	if s.ownerNext != nil {
		s.ownerNext.ownerPrev = s.ownerPrev
	}
	if s.ownerPrev != nil {
		s.ownerPrev.ownerNext = s.ownerNext
	} else {
		s.owner.entries = s.ownerNext
	}
	c.size -= s.size
	if c.n--; c.n == 0 {
		c.hand = nil
	}
}

// removeAll takes out the blocks of a Reader that is closed, and takes no more.
func (c *Cache) removeAll(owner *cacheOwner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	owner.closed = true
	for owner.entries != nil {
		c.remove(owner.entries)
	}
}

// cached returns data block i if it is in the cache, and else nil.
func (r *Reader) cached(i int) *decoded.Cached {
	if r.cachedBlocks == nil {
		return nil
	}
	b := r.cachedBlocks[i].Load()
	if b != nil {
		b.Touch()
	}
	if m := r.o.Metrics; m != nil {
		if b != nil {
			m.CacheHits.Add(1)
		} else {
			m.CacheMisses.Add(1)
		}
	}
	return b
}

// isCached reports whether data block i is in the cache, and counts nothing.
func (r *Reader) isCached(i int) bool {
	return r.cachedBlocks != nil && r.cachedBlocks[i].Load() != nil
}

// maxCachedBlock is the most that a block may have to be kept in the cache. To read
// a larger one takes its time, and to keep it takes a copy.
const maxCachedBlock = 4 << 20

// admit keeps a copy of e, data block i's entries, in the cache, and returns it.
// If there is no cache, or if they are too large for it, it returns nil.
func (r *Reader) admit(i int, e *decoded.Block) *decoded.Cached {
	if r.cachedBlocks == nil {
		return nil
	}
	if size := e.CachedSize(); size > maxCachedBlock || int64(size)+cacheEntrySize > r.o.Cache.budget {
		return nil
	}
	b := e.ForCache()
	r.o.Cache.add(&cacheEntry{block: b, size: int64(b.Size()) + cacheEntrySize, slot: &r.cachedBlocks[i], owner: r.cacheOwner})
	return b
}
