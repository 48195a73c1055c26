package table

import (
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/decoded"
)

// A residentTable says that an openTable is in a Cache, which can evict it.
type residentTable struct {
	reader  *atomic.Pointer[openTable] // where the Reader keeps it
	entry   *cacheEntry
	bytes   int64
	touched atomic.Bool
}

// keep lets the Reader use the open table, and the Cache evict it if the options say so.
func (r *Reader) keep(t *openTable) error {
	c := r.o.Cache
	if c == nil || c.budget <= 0 {
		r.opened.Store(t)
		return nil
	}
	if id := t.cacheID(); r.cachedFile == nil {
		r.cachedFile = c.openFile(id)
	} else if id != r.cachedFile.id {
		return t.corrupt(FooterBlock, t.footerHandle(), "handles of other blocks than before, or %d data blocks, not %d: the file has changed", id.blocks, r.cachedFile.id.blocks)
	}
	t.cachedFile = r.cachedFile
	if !r.o.CacheIndexAndFilters {
		c.keepTable(t, &r.opened, nil)
		return nil
	}
	resident := &residentTable{reader: &r.opened, bytes: t.memorySize()}
	resident.touched.Store(true) // the lookup that it is read for
	if resident.bytes+cacheEntrySize <= c.budget {
		c.keepTable(t, &r.opened, resident)
	}
	return nil
}

// keepTable lets a Reader keep t, and its file have cached blocks. If resident is not nil, t
// counts as a part of the Cache. If the Reader is closed, keepTable does nothing.
func (c *Cache) keepTable(t *openTable, reader *atomic.Pointer[openTable], resident *residentTable) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := t.cachedFile
	if t.closed.Load() {
		return
	}
	if f.blocks == nil {
		f.blocks = make([]atomic.Pointer[decoded.Cached], t.index.len())
	}
	t.cachedBlocks, t.resident = f.blocks, resident
	f.tables++
	reader.Store(t)
	if resident != nil {
		resident.entry = &cacheEntry{file: f, metrics: t.o.Metrics}
		if c.tables == nil {
			c.tables = make(map[*cacheEntry]*residentTable)
		}
		c.tables[resident.entry] = resident
		c.link(resident.entry)
		c.evict()
	}
}

// removeTable removes the table of s, which is not in the ring any more. If no Reader keeps a
// table of its file then, the cached blocks of the file go too: without the table they would be
// found by nobody, and few of them would be in use.
func (c *Cache) removeTable(s *cacheEntry) {
	c.tables[s].reader.Store(nil)
	delete(c.tables, s)
	f := s.file
	if f.tables--; f.tables > 0 || f.readers == 0 {
		return
	}
	for f.entries != nil {
		c.evictEntry(f.entries)
	}
	f.blocks = nil
}
