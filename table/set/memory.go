package set

import "sync"

// A memory has the Readers of a Set, and says which tables are to be closed.
type memory struct {
	bound int64 // of size; 0: none

	mu   sync.Mutex
	live map[*opened]struct{} // also those that are still in use but closed
	open clock[*opened]
	size int64 // bytes of open, as they were counted last
}

// begin adds a Reader that is not kept open yet.
func (m *memory) begin(o *opened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live[o] = struct{}{}
}

// end removes a Reader that is not in use any more.
func (m *memory) end(o *opened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, o)
}

// total returns how many bytes all Readers take.
func (m *memory) total() (size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o := range m.live {
		size += o.r.MemorySize()
	}
	return size
}

// add adds a table that is kept open. It returns others that are closed for it, and perhaps the
// table itself: the caller releases them.
func (m *memory) add(o *opened) (evicted []*opened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o.counted.Store(o.r.MemorySize())
	m.size += o.counted.Load()
	evicted = m.evict()
	if o.place = m.open.add(o); m.open.n == 1 { // it can be too large by itself
		evicted = append(evicted, m.evict()...)
	}
	return evicted
}

// recount counts a table again that is in use, since a Reader takes more memory the more it is used.
// It closes what does not fit any more.
func (m *memory) recount(o *opened) {
	if o.r.MemorySize() == o.counted.Load() {
		return
	}
	var evicted []*opened
	m.mu.Lock()
	if o.place != nil {
		size := o.r.MemorySize()
		m.size += size - o.counted.Swap(size)
		evicted = m.evict()
	}
	m.mu.Unlock()
	for _, o := range evicted {
		o.drop()
	}
}

// evict closes tables until the others are in bounds. The caller holds mu.
func (m *memory) evict() (evicted []*opened) {
	for m.bound > 0 && m.size > m.bound && m.open.n > 0 {
		o := m.open.take(func(o *opened) bool { return o.touched.Swap(false) })
		m.size -= o.counted.Load()
		o.place = nil
		if o.m.opened.CompareAndSwap(o, nil) {
			evicted = append(evicted, o)
		}
	}
	return evicted
}

// remove removes a table that is not kept open any more, if it is there.
func (m *memory) remove(o *opened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o.place != nil {
		m.open.remove(o.place)
		m.size -= o.counted.Load()
		o.place = nil
	}
}
