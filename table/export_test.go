package table

import (
	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/encoded"
)

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

// KeptMemory returns how many bytes of a block's buffers lookups and an Iter leave to the next one,
// and how many of the block's entries, which refer to the buffers.
func KeptMemory(size int) (lookup, iter, entries int) {
	b := buffers{stored: make([]byte, size)}
	b.empty()
	m := &blockMemory{buffers: buffers{decompressed: make([]byte, size)}, seekKey: make([]byte, size)}
	w, err := block.NewWriter(1, block.Order{})
	if err == nil {
		err = w.Append([]byte("key"), nil)
	}
	if err == nil {
		err = m.entries.Decode(w.Finish(), encoded.Order{})
	}
	if err != nil {
		panic(err)
	}
	m.empty()
	return cap(b.stored), cap(m.buffers.decompressed) + cap(m.seekKey), m.entries.Size()
}

// Locate returns the Handle of the only data block that can have key. The error is that of Get, if it reads none.
func (r *Reader) Locate(key []byte) (h Handle, err error) {
	t, err := r.startLookup(&noOptions)
	if err != nil {
		return Handle{}, err
	}
	defer t.mapped.leave(t.mapped.enter(), &err)
	i, _, err := t.locate(key)
	if err != nil {
		return Handle{}, err
	}
	return t.index.handle(i)
}
