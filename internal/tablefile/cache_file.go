package tablefile

import (
	"crypto/sha256"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/decoded"
)

// A cacheID says which Files share blocks: those with the same contents, that look at their keys in the same way. If
// key is empty, no others do. Beside the key it has what is at hand of the contents, to notice most files that have
// the key by mistake.
type cacheID struct {
	key          string
	comparer     string
	footer       Footer
	footerOffset uint64
	blocks       int // so that each Reader finds a place for each of its blocks
	tailSum      [sha256.Size]byte
	unchecked    bool // with SkipChecksums
}

// Cache has c keep data blocks of f from now on. Files with the same key, comparer and tailSum share them; if the key is
// empty, f has its own. Uncache must be called in the end.
func (f *File) Cache(c *Cache, key, comparer string, tailSum [sha256.Size]byte) {
	f.cache = c
	f.cachedFile = c.openFile(cacheID{
		key: key, comparer: comparer, footer: f.Footer, footerOffset: f.FooterOffset,
		blocks: f.Index.n, tailSum: tailSum, unchecked: f.o.SkipChecksums,
	})
	f.cached = f.cachedFile.blocks
}

// Uncache ends the use of the cache, if there is one.
func (f *File) Uncache() {
	if f.cachedFile != nil {
		f.cache.closeFile(f.cachedFile)
	}
}

// A cachedFile stands for a file in a Cache. It has no pointer to a File: one that is
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
