package table

// BuildIndex has the search tree built, as many lookups do. It reports whether the index is sound.
func (r *Reader) BuildIndex() bool {
	t, err := r.table()
	return err == nil && t.index.build() != nil
}

// IndexIsBuilt reports whether there is a search tree.
func (r *Reader) IndexIsBuilt() bool {
	t, err := r.table()
	return err == nil && t.index.tree.Load() != nil
}

// KeptMemory returns how many bytes of a block's buffers, and of its entries, lookups and an Iter
// leave to the next one.
func KeptMemory(block int) (lookup, iter int) {
	b := buffers{stored: make([]byte, block)}
	b.empty()
	m := &blockMemory{buffers: buffers{decompressed: make([]byte, block)}, seekKey: make([]byte, block)}
	m.empty()
	return cap(b.stored), cap(m.buffers.decompressed) + cap(m.seekKey)
}
