package table

import (
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/decoded"
)

// MemorySize returns how many bytes of memory the Reader keeps until it is closed and dropped:
// its index, its filters, and with a Cache where to find each data block. The blocks in the
// Cache are counted by Cache.Size, and so are index and filters with CacheIndexAndFilters. The
// figure is exact but for some hundred bytes, and for the opened form of filters of a policy in
// the options.
func (r *Reader) MemorySize() int64 {
	size := int64(unsafe.Sizeof(*r))
	if t := r.opened.Load(); t != nil && t.resident == nil {
		size += t.memorySize()
	}
	return size
}

// memorySize returns how many bytes of memory the open table takes.
func (t *openTable) memorySize() int64 {
	size := int64(unsafe.Sizeof(*t)) + t.index.memory()
	size += t.filterSpans.Size()
	if t.cachedFile != nil {
		size += int64(t.index.len()) * int64(unsafe.Sizeof(atomic.Pointer[decoded.Cached]{}))
	}
	if t.filters.Blocks != nil {
		size += int64(t.filters.BlocksEntry.Length)
	}
	if t.filters.Table != nil {
		size += int64(t.filters.TableEntry.Length)
	}
	return size
}

// memory returns how many bytes of memory the index takes.
func (x *index) memory() int64 {
	size := cap(x.text) + cap(x.ends)*int(unsafe.Sizeof(uint32(0))) + x.handles.memory()
	levels := x.searchTree().levels
	for i := range levels {
		l := &levels[i]
		size += int(unsafe.Sizeof(*l)) + 4*cap(l.first4) + 8*cap(l.next8) + cap(l.nodes)*int(unsafe.Sizeof(searchNode{}))
	}
	return int64(unsafe.Sizeof(*x)) + int64(size)
}
