package table

// readAhead reads data blocks that follow one another in one go.
type readAhead struct {
	most  int    // bytes to be read at once; 0: blocks are read one by one
	bytes []byte // of the file,
	at    uint64 // from here on
}

// prepare reads data block i and those behind it, unless it is there. Only where
// blocks are asked for in their order is that worth it. An error is left for who
// reads the block itself to find.
func (a *readAhead) prepare(r *Reader, i int, forward bool) {
	h := r.index.handles[i]
	if a.most == 0 || !forward || a.has(h.offset, h.end()) || r.cachedAlready(i) {
		return
	}
	end := h.end()
	for _, next := range r.index.handles[i+1:] {
		if next.offset != end || next.end()-h.offset > uint64(a.most) {
			break
		}
		end = next.end()
	}
	if n := end - h.offset; n > h.length+trailerLen && n <= uint64(a.most) {
		a.bytes, a.at = extend(a.bytes[:0], int(n))[:n], h.offset
		if r.readAt(partData, a.bytes, a.at) != nil {
			a.bytes = a.bytes[:0]
		}
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
