package table

import "sync/atomic"

// CacheMetrics count what a Cache does. [Cache.Metrics] returns them. How often Readers have read
// an evicted index again is in [Metrics].Reopens.
type CacheMetrics struct {
	Hits   uint64 // data blocks that lookups and iterators found in the Cache
	Misses uint64 // data blocks that they did not find

	// Evictions counts the data blocks that the Cache removed to add others, and with
	// CacheIndexAndFilters the tables, and the blocks that went with them.
	Evictions uint64

	Blocks int   // data blocks in the Cache
	Tables int   // tables whose index and filters are in the Cache
	Size   int64 // bytes of memory that all of it takes
}

// Metrics returns what the Cache has done so far, of all its Readers, and what it has. What
// lookups count meanwhile may be in some of the counts only.
func (c *Cache) Metrics() CacheMetrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := CacheMetrics{Evictions: c.evictions, Blocks: c.n - len(c.tables), Tables: len(c.tables), Size: c.size}
	for i := range c.counters {
		m.Hits += c.counters[i].hits.Load()
		m.Misses += c.counters[i].misses.Load()
	}
	return m
}

// numCounters is how many cacheCounters a Cache has. Each file counts in one of them, so that
// goroutines that use several files seldom wait for each other.
const numCounters = 16

// cacheCounters count the lookups in a Cache. They fill a line of a processor's cache.
type cacheCounters struct {
	hits, misses atomic.Uint64
	_            [48]byte
}

func (c *cacheCounters) count(hit bool) {
	if hit {
		c.hits.Add(1)
	} else {
		c.misses.Add(1)
	}
}
