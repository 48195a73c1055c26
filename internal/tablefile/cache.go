package tablefile

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// A Cache keeps data blocks in memory: see table.Cache. The zero value keeps nothing.
type Cache struct {
	Budget int64 // maximum of size

	refused atomic.Pointer[refusals] // nil while nothing has been evicted, or after much space became free

	mu        sync.Mutex
	size      int64 // bytes of all entries, and of cachedFiles without a reader
	entries   clock.Clock[cacheEntry, *cacheEntry]
	files     map[cacheID]*cachedFile
	opened    uint64 // number of files that have been opened
	evictions uint64
}

// A cacheEntry is a block in the ring of a Cache.
type cacheEntry struct {
	block  *rowblock.Cached
	file   *cachedFile
	counts *Counters // belong to the File that added the entry
	number int       // of the block in its file
	clock.Links[cacheEntry]
}

// cacheEntrySize is the size of a cacheEntry in bytes.
const cacheEntrySize = 48

// size returns the memory use of s and its block, in bytes.
func (s *cacheEntry) size() int64 { return int64(s.block.Size()) + cacheEntrySize }

// add adds a block, and evicts others to make room. It does nothing if the cache already has the block, or if the
// file is closed.
func (c *Cache) add(s *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.file.readers == 0 || !s.file.blocks[s.number].CompareAndSwap(nil, s.block) {
		return
	}
	c.entries.AddLast(s) // the hand reaches it last
	s.file.entries[s.number] = s
	s.file.cached++
	c.size += s.size()
	c.evict()
}

// evict removes blocks until the rest fits into the budget.
func (c *Cache) evict() {
	if n := c.entries.Len(); c.size > c.Budget && !c.refused.Load().enough(n) {
		c.refused.Store(newRefusals(n))
	}
	for c.size > c.Budget {
		s := c.entries.Take(func(s *cacheEntry) bool { return s.block.Touched() })
		c.drop(s)
		c.evictions++
		if m := s.counts; m != nil {
			m.CacheEvictions.Add(1)
		}
	}
}

// drop removes the block of s, which has left the ring. It also removes the file if nothing needs it any more.
func (c *Cache) drop(s *cacheEntry) {
	if c.size -= s.size(); c.size < c.Budget-c.Budget/8 {
		c.refused.Store(nil)
	}
	f := s.file
	f.entries[s.number] = nil
	f.cached--
	f.blocks[s.number].Store(nil)
	if f.id.key != "" && f.readers == 0 && f.cached == 0 {
		c.size -= f.memory()
		delete(c.files, f.id)
	}
}

// Use returns the number of evictions so far, the number of blocks, and their memory use in bytes.
func (c *Cache) Use() (evictions uint64, blocks int, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evictions, c.entries.Len(), c.size
}

// A cacheID identifies a file. Files with equal IDs share blocks: they have the same contents and the same order of
// keys. If key is empty, the file shares its blocks with no other. The other fields help to notice different files
// that were given the same key by mistake.
type cacheID struct {
	key          string
	comparer     string
	footer       Footer
	footerOffset uint64
	blocks       int // so that every Reader has a slot for each of its blocks
	tailSum      [sha256.Size]byte
	unchecked    bool // SkipChecksums is set
}

// Cache makes f use c for its data blocks. Files with the same key, comparer and tailSum share blocks. If key is
// empty, f shares them with no other File. Every call must be followed by Uncache.
func (f *File) Cache(c *Cache, key, comparer string, tailSum [sha256.Size]byte) {
	f.cache = c
	blocks := f.Index.N
	if f.Pages != nil {
		blocks += int(f.Pages.N)
	}
	f.cachedFile = c.openFile(cacheID{
		key: key, comparer: comparer, footer: f.Footer, footerOffset: f.FooterOffset,
		blocks: blocks, tailSum: tailSum, unchecked: f.o.SkipChecksums,
	})
	f.cached = f.cachedFile.blocks
}

// Uncache ends the use of the cache. Without a cache it does nothing.
func (f *File) Uncache() {
	if f.cachedFile != nil {
		f.cache.closeFile(f.cachedFile)
	}
}

// A cachedFile is a file as the Cache knows it. It has no pointer to a File: a File that is dropped without Close
// can then be garbage collected, and its file closed, while its blocks stay in the Cache.
type cachedFile struct {
	id      cacheID
	blocks  []atomic.Pointer[rowblock.Cached] // the cached copy of each data block
	readers int                               // number of open Readers
	entries []*cacheEntry                     // of each block; nil if it is not in the Cache
	cached  int                               // number of entries
	number  uint64                            // unique among the files of the Cache
}

// slotSize is the memory that a cachedFile takes for each block, in bytes.
const slotSize = int64(2 * unsafe.Sizeof(uintptr(0)))

// memory returns the file's memory use without its blocks, in bytes. While a Reader is open, that memory counts as
// the Reader's.
func (f *cachedFile) memory() int64 {
	return int64(unsafe.Sizeof(*f)) + int64(len(f.blocks))*slotSize
}

// openFile returns the cachedFile for a Reader that is being opened.
func (c *Cache) openFile(id cacheID) *cachedFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.files[id]
	switch {
	case f == nil:
		f = &cachedFile{id: id, number: c.opened, entries: make([]*cacheEntry, id.blocks)}
		f.blocks = make([]atomic.Pointer[rowblock.Cached], id.blocks)
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

// closeFile ends a Reader's use of the file. When the last Reader closes a file without a CacheKey, its blocks leave
// the Cache. With a CacheKey they stay, and the file's own memory counts as the Cache's from then on.
func (c *Cache) closeFile(f *cachedFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.readers--; f.readers > 0 {
		return
	}
	for i := 0; f.id.key == "" && f.cached > 0; i++ {
		if s := f.entries[i]; s != nil {
			c.entries.Remove(s)
			c.drop(s)
		}
	}
	if f.cached == 0 {
		delete(c.files, f.id)
		return
	}
	c.size += f.memory()
	c.evict()
}
