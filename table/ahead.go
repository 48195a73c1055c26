package table

import "context"

// A readAhead reads several data blocks at once, for moves from block to block and for
// batches of lookups.
type readAhead struct {
	size   int    // bytes to read at once; 0: each block is read by itself
	bytes  []byte // that were read
	offset uint64 // of bytes in the file
}

// prepareAhead reads data block i and the blocks behind it, up to before block end, unless
// block i is there. If the read fails, it reads nothing ahead any more: the blocks are then
// read one by one, so that an error is about the block that cannot be read.
func (b *buffers) prepareAhead(t *openTable, i, end int) {
	a := &b.ahead
	if a.size == 0 || t.slices != nil {
		return
	}
	h, err := t.index.handle(i)
	if err != nil || a.has(h.Offset, h.end()) {
		return
	}
	to := h.Offset
	for ; i < end; i++ {
		next, err := t.index.handle(i)
		if err != nil || next.Offset != to || next.end()-h.Offset > uint64(a.size) || next.Length > uint64(t.maxBlockSize) {
			break
		}
		to = next.end()
	}
	if to <= h.end() {
		return // only block i
	}
	if a.fill(b.ctx, t, h.Offset, to) != nil {
		a.size = 0
	}
}

// fill reads the bytes of the file from start to end, unless ctx ends that. After an error it
// has none.
func (a *readAhead) fill(ctx context.Context, t *openTable, start, end uint64) error {
	n := int(end - start)
	if n == 0 {
		return nil
	}
	into := extend(a.bytes[:0], n)[:n]
	a.bytes, a.offset = nil, start // should the source panic
	if err := t.readAtContext(ctx, DataBlock, into, start); err != nil {
		return err
	}
	a.bytes = into
	return nil
}

// has reports whether it has the bytes of the file from start to end.
func (a *readAhead) has(start, end uint64) bool {
	return start >= a.offset && end <= a.offset+uint64(len(a.bytes))
}

// read fills p with the bytes of the file at offset, and reports whether it has them.
func (a *readAhead) read(p []byte, offset uint64) bool {
	if len(a.bytes) == 0 || !a.has(offset, offset+uint64(len(p))) {
		return false
	}
	copy(p, a.bytes[offset-a.offset:])
	return true
}
