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
	size := int64(unsafe.Sizeof(*t)) + t.file.Memory()
	if t.file.HandsOut() {
		return size
	}
	if t.sieve.Blocks != nil {
		size += int64(t.sieve.BlocksEntry.Length)
	}
	if t.sieve.Table != nil {
		size += int64(t.sieve.TableEntry.Length)
	}
	return size + t.sieve.Never.size()
}
