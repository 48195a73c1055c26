package tablefile

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// A Cache keeps data blocks in memory: table.Cache says how. The zero value keeps nothing.
type Cache struct {
	Budget int64 // maximum of size

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
	block  *rowblock.Cached
	file   *cachedFile
	counts *Counters // of the File that added the entry
	number int       // of the block in its file
	links  clock.Links[cacheEntry]

	filePrev, fileNext *cacheEntry // in the list of the file
}

// cacheEntrySize is the size of a cacheEntry in bytes.
const cacheEntrySize = 64

// ClockLinks returns the neighbors of s in the ring.
func (s *cacheEntry) ClockLinks() *clock.Links[cacheEntry] { return &s.links }

// size returns how many bytes of memory s takes, with its block.
func (s *cacheEntry) size() int64 { return int64(s.block.Size()) + cacheEntrySize }

// add adds a block, and evicts others for it. It does nothing if the cache has the block by now, or if the file is
// closed.
func (c *Cache) add(s *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.file.readers == 0 || !s.file.blocks[s.number].CompareAndSwap(nil, s.block) {
		return
	}
	c.link(s)
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

// link adds s to the ring, where the hand comes last, and to the list of its file.
func (c *Cache) link(s *cacheEntry) {
	c.entries.AddLast(s)
	if s.fileNext = s.file.entries; s.fileNext != nil {
		s.fileNext.filePrev = s
	}
	s.file.entries = s
	c.size += s.size()
}

// drop removes the block of s, which is not in the ring any more, and the file if that is not needed any more.
func (c *Cache) drop(s *cacheEntry) {
	if c.size -= s.size(); c.size < c.Budget-c.Budget/8 {
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

// Cached returns the entries of data block i, or nil if they are not in the cache, and counts a hit or a miss.
func (f *File) Cached(i int) *rowblock.Cached {
	if f.cached == nil {
		return nil
	}
	b := f.cached[i].Load()
	if b != nil {
		b.Touch()
	}
	if m := f.o.Counters; m != nil {
		if b != nil {
			m.CacheHits.Add(1)
		} else {
			m.CacheMisses.Add(1)
		}
	}
	return b
}

// Use returns how many blocks were evicted so far, how many there are, and how many bytes of memory they take.
func (c *Cache) Use() (evictions uint64, blocks int, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evictions, c.entries.Len(), c.size
}

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
	blocks  []atomic.Pointer[rowblock.Cached] // the cached copy of each data block
	readers int                               // that are open
	entries *cacheEntry                       // the first of its entries; nil if it has none
	number  uint64                            // of the file, among those that the Cache has seen
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
		f = &cachedFile{id: id, number: c.opened, blocks: make([]atomic.Pointer[rowblock.Cached], id.blocks)}
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
	for s := f.entries; f.id.key == "" && s != nil; s = f.entries {
		c.entries.Remove(s)
		c.drop(s)
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
