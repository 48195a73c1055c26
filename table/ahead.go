package table

// readAhead reads data blocks that follow one another in one go.
type readAhead struct {
	most  int    // bytes to be read at once; 0: blocks are read one by one
	bytes []byte // of the file,
	at    uint64 // from here on
}

// prepare reads data block i and those behind it, up to block end, unless it is
// there. Only where blocks are asked for in their order is that worth it. If it fails
// no more is read ahead: the error is left for who reads the block itself to find.
func (a *readAhead) prepare(r *Reader, i, end int) {
	h := r.index.handles[i]
	if a.most == 0 || a.has(h.Offset, h.end()) || r.isCached(i) {
		return
	}
	to := h.Offset
	for _, next := range r.index.handles[i:end] {
		if next.Offset != to || next.end()-h.Offset > uint64(a.most) || next.Length > uint64(r.maxBlockSize) {
			break
		}
		to = next.end()
	}
	if to <= h.end() {
		return // no more than the block itself
	}
	n := int(to - h.Offset)
	a.bytes, a.at = extend(a.bytes[:0], n)[:n], h.Offset
	if r.readAt(DataBlock, a.bytes, a.at) != nil {
		a.bytes, a.most = nil, 0
	}
}

// has reports whether the bytes of the file from start to end are there.
func (a *readAhead) has(start, end uint64) bool {
	return start >= a.at && end <= a.at+uint64(len(a.bytes))
}

// read fills p with what the file has at offset, if it is there.
func (a *readAhead) read(p []byte, offset uint64) bool {
	if len(a.bytes) == 0 || !a.has(offset, offset+uint64(len(p))) {
		return false
	}
	copy(p, a.bytes[offset-a.at:])
	return true
}
