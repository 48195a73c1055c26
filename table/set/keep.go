package set

// recount updates the counted memory of a Reader after a use, if MemorySize is set: lookups can add to it. That can
// close tables.
func (h *handle) recount() {
	if h.s.o.MemorySize > 0 && h.state.Load() == opened {
		h.s.recount(h)
	}
}

func (s *Set) recount(h *handle) {
	if h.reader.MemorySize() == h.counted.Load() {
		return
	}
	s.mu.Lock()
	if h.member.kept.Load() == h {
		size := h.reader.MemorySize()
		s.size += size - h.counted.Swap(size)
	}
	evicted := s.evict()
	s.mu.Unlock()
	releaseAll(evicted)
}

func releaseAll(all []*handle) {
	for _, h := range all {
		h.release()
	}
}

// keep keeps a table open. It returns the handles that are evicted for it, perhaps including h, for the caller to
// release. A table outside the current version evicts none, since lookups use the others. The caller holds mu.
func (s *Set) keep(h *handle) (evicted []*handle) {
	if old := s.unkeep(h.member); old != nil { // opened before a Reopen, or before the table was replaced
		evicted = append(evicted, old)
	}
	if h.limit > h.filterBits.Load() { // a Swap has lowered the limit since
		return evicted
	}
	bound := s.o.MemorySize
	if h.member.old != nil && bound > 0 && s.size+h.reader.MemorySize() > bound {
		return evicted
	}
	h.users.Acquire()
	h.member.kept.Store(h)
	if bound == 0 {
		return evicted // nothing is counted
	}
	size := h.reader.MemorySize()
	h.counted.Store(size)
	s.size += size
	evicted = append(evicted, s.evict()...)
	s.kept.Add(h)
	return append(evicted, s.evict()...) // h alone can be too large
}

// evict takes tables from kept, by CLOCK, until the others fit into MemorySize. The caller holds mu, and releases
// the handles after unlocking it.
func (s *Set) evict() (evicted []*handle) {
	for s.size > s.o.MemorySize && s.kept.Len() > 0 {
		h := s.kept.Take(func(h *handle) bool { return h.touched.Swap(false) })
		s.size -= h.counted.Load()
		h.member.kept.Store(nil)
		evicted = append(evicted, h)
	}
	return evicted
}

// unkeep stops keeping a table open. It returns the handle, or nil if there is none. The caller holds mu, and
// releases the handle after unlocking it.
func (s *Set) unkeep(m *member) *handle {
	h := m.kept.Load()
	if h == nil {
		return nil
	}
	if s.o.MemorySize > 0 {
		s.kept.Remove(h)
		s.size -= h.counted.Load()
	}
	m.kept.Store(nil)
	return h
}
