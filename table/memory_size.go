package table

import "unsafe"

// MemorySize returns how many bytes of memory the Reader keeps until it is closed and dropped:
// its index, its filters, and with a Cache where to find each data block. It grows when lookups
// have paid for a faster search of the index. Bytes that the source hands out do not count, and
// blocks in the Cache are counted by Cache.Metrics. The figure is exact but for some hundred bytes,
// and for the opened form of filters of a policy in the options.
func (r *Reader) MemorySize() int64 {
	size := int64(unsafe.Sizeof(*r))
	if t := r.opened.Load(); t != nil {
		size += t.memorySize()
	}
	return size
}

// memorySize returns how many bytes of memory the open table takes.
func (t *openTable) memorySize() int64 {
	size := int64(unsafe.Sizeof(*t)) + t.index.memory()
	if t.cachedFile != nil {
		size += int64(len(t.cachedBlocks)) * int64(unsafe.Sizeof(t.cachedBlocks[0]))
	}
	if t.slices != nil {
		return size
	}
	if t.filters.Blocks != nil {
		size += int64(t.filters.BlocksEntry.Length)
	}
	if t.filters.Table != nil {
		size += int64(t.filters.TableEntry.Length)
	}
	if t.filters.Never != nil {
		size += int64(len(t.filters.Never.block))
	}
	return size
}

// memory returns how many bytes of memory the index takes.
func (x *index) memory() int64 {
	size := int64(unsafe.Sizeof(*x))
	if !x.inSource {
		size += int64(cap(x.stored.Entries)) + int64(cap(x.stored.Restarts))
	}
	if t := x.tree.Load(); t != nil {
		size += int64(t.memory())
	}
	return size
}
