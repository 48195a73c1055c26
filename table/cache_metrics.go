package table

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
	return CacheMetrics{Evictions: c.evictions, Blocks: c.n, Size: c.size}
}
