package table

import (
	"crypto/sha256"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/decoded"
)

// A cacheID says which Readers share blocks: those of files with the same contents, that look
// at their keys in the same way. If key is empty, no others do. Beside the CacheKey it has what
// is at hand of the contents, to notice most files that have a CacheKey by mistake.
type cacheID struct {
	key          string
	comparer     string
	footer       footer
	footerOffset uint64
	blocks       int // so that each Reader finds a place for each of its blocks
	tailSum      [sha256.Size]byte
	unchecked    bool // with SkipChecksums
}

// cacheID returns the cacheID of the table.
func (t *openTable) cacheID() cacheID {
	return cacheID{
		key: t.o.CacheKey, comparer: t.o.Comparer.Name(), footer: t.footer, footerOffset: t.footerOffset,
		blocks: t.index.len(), tailSum: t.o.TailSum, unchecked: t.o.SkipChecksums,
	}
}

// A cachedFile stands for a file in a Cache. It has no pointer to a Reader: a Reader that is
// dropped without Close can be freed, and its file closed, while its blocks are in the Cache.
type cachedFile struct {
	id      cacheID
	blocks  []atomic.Pointer[decoded.Cached] // the cached copy of each data block
	readers int                              // that are open
	entries *cacheEntry                      // the first of its entries; nil if it has none
	number  uint64                           // of the file, among those that the Cache has seen
}

// memory returns how many bytes of memory the file takes beside its blocks. While a Reader is
// open, the Reader counts them.
func (f *cachedFile) memory() int64 {
	return int64(unsafe.Sizeof(*f)) + int64(len(f.blocks))*int64(unsafe.Sizeof(f.blocks[0]))
}

// openFile returns the file for a Reader that is opened.
func (c *Cache) openFile(id cacheID) *cachedFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.files[id]
	switch {
	case f == nil:
		f = &cachedFile{id: id, number: c.opened, blocks: make([]atomic.Pointer[decoded.Cached], id.blocks)}
		c.opened++
		if id.key != "" {
			if c.files == nil {
				c.files = make(map[cacheID]*cachedFile)
			}
			c.files[id] = f
		}
	case f.readers == 0:
		c.size -= f.memory()
	}
	f.readers++
	return f
}

// closeFile closes the file for a Reader. If the file has no CacheKey, its blocks leave the Cache.
// Otherwise they stay, and the memory that the file takes counts as theirs from now on.
func (c *Cache) closeFile(f *cachedFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.readers--; f.readers > 0 {
		return
	}
	for f.id.key == "" && f.entries != nil {
		c.remove(f.entries)
	}
	if f.entries == nil {
		delete(c.files, f.id)
		return
	}
	c.size += f.memory()
	c.evict()
}

// dropUnused drops the file if no Reader has it open and it has no blocks.
func (c *Cache) dropUnused(f *cachedFile) {
	if f.id.key != "" && f.readers == 0 && f.entries == nil {
		c.size -= f.memory()
		delete(c.files, f.id)
	}
}
