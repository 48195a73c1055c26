package set

// recount counts the memory of a Reader again that was used, if there is a bound: it takes more the more it is
// used. That can close tables.
func (h *handle) recount() {
	if h.s.o.MemorySize > 0 && h.state.Load() == opened {
		h.s.recount(h)
	}
}

func (s *Set) recount(h *handle) {
	if h.reader.MemorySize() == h.counted.Load() {
		return
	}
	var evicted []*handle
	s.mu.Lock()
	if h.member.kept.Load() == h {
		size := h.reader.MemorySize()
		s.size += size - h.counted.Swap(size)
		evicted = s.evict()
	}
	s.mu.Unlock()
	releaseAll(evicted)
}

func releaseAll(all []*handle) {
	for _, h := range all {
		h.release()
	}
}

// keep keeps a table open. It returns those that are evicted for it, and perhaps the table itself: the caller
// releases them. One that is not in the current version evicts none, since lookups use those that are there.
// The caller holds mu.
func (s *Set) keep(h *handle) (evicted []*handle) {
	if old := s.unkeep(h.member); old != nil { // of Reopen, or of a table that was replaced
		evicted = append(evicted, old)
	}
	if h.limit > h.filterBits.Load() { // there was a Swap since
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
	if s.kept.Add(h); s.kept.Len() == 1 { // it can be too large by itself
		evicted = append(evicted, s.evict()...)
	}
	return evicted
}

// evict takes tables from those that are kept open, by CLOCK, until the others fit into the bound. The caller
// holds mu, and releases them without it.
func (s *Set) evict() (evicted []*handle) {
	for s.size > s.o.MemorySize && s.kept.Len() > 0 {
		h := s.kept.Take(func(h *handle) bool { return h.touched.Swap(false) })
		s.size -= h.counted.Load()
		h.member.kept.Store(nil)
		evicted = append(evicted, h)
	}
	return evicted
}

// unkeep ends that a table is kept open. It returns the Reader, or nil if the table is not open. The caller
// holds mu, and releases the Reader without it.
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
