package table

import "github.com/sievetable/sievetable/internal/tablefile"

// A Cache keeps decoded data blocks in memory, for Readers with [ReaderOptions].Cache. It is safe for concurrent use.
// The zero value caches nothing.
//
// It evicts blocks not used recently, and when full admits a block on its second read. Never cached are blocks of
// more than 4 MiB or 16,384 entries, and false positives. Close of a Reader without CacheKey removes its blocks.
type Cache struct{ c tablefile.Cache }

// NewCache returns an empty Cache of up to so much memory, in bytes. If bytes is <= 0, it caches nothing. An entry of
// a decoded block takes its key, its value and about 22 bytes, which can be far more than in the file.
func NewCache(bytes int64) *Cache { return &Cache{tablefile.Cache{Budget: bytes}} }

// Size returns the bytes of memory of the cached blocks.
func (c *Cache) Size() int64 {
	_, _, size := c.c.Use()
	return size
}
