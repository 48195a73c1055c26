package set

import (
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/internal/refs"
	"github.com/sievetable/sievetable/table"
)

// A resident is the Reader of an open table. The member holds a reference while it keeps the table open, and
// so do Iters, GetMany, and those who wait for the opening. With the last one, the Reader is closed.
//
// Single lookups hold no reference: see member.get.
type resident struct {
	m         *member
	reader    *table.Reader
	epoch     int64 // of the file that is read
	filterErr error // of the Reader, when the table was opened
	refs      refs.Count
	touched   atomic.Bool // used since the clock came by
	closed    atomic.Bool // or about to be

	links   clock.Links[resident]
	counted atomic.Int64 // bytes, while the member keeps the table open. The Set's mu guards each change
}

// ClockLinks returns the neighbors of the Reader.
func (r *resident) ClockLinks() *clock.Links[resident] { return &r.links }

// open returns the Reader of an open table, or nil. If the table was replaced since, it is not open any more.
func (m *member) open() *resident {
	r := m.resident.Load()
	if r == nil || r.epoch != m.replaced.Load() {
		return nil
	}
	if !r.touched.Load() {
		r.touched.Store(true)
	}
	return r
}

// acquire is open with one more reference.
func (m *member) acquire() *resident {
	if r := m.open(); r != nil && r.refs.Acquire() {
		return r
	}
	return nil
}

// release drops a reference, if r is not nil. It must not be called with a mutex held.
func (r *resident) release() {
	if r == nil {
		return
	}
	r.recount()
	if !r.refs.Release() {
		return
	}
	s := r.m.s
	s.mu.Lock()
	delete(s.readers, r)
	s.mu.Unlock()
	r.closed.Store(true)
	r.reader.Close() // closes no file
}

// recount counts the memory of a Reader again that was used, if there is a bound: it takes more the more it is
// used. That can close tables.
func (r *resident) recount() {
	if s := r.m.s; s.o.MemorySize > 0 {
		s.recount(r)
	}
}

func (s *Set) recount(r *resident) {
	if r.reader.MemorySize() == r.counted.Load() {
		return
	}
	var evicted []*resident
	s.mu.Lock()
	if r.m.resident.Load() == r {
		size := r.reader.MemorySize()
		s.size += size - r.counted.Swap(size)
		evicted = s.evict()
	}
	s.mu.Unlock()
	releaseAll(evicted)
}

func releaseAll(all []*resident) {
	for _, r := range all {
		r.release()
	}
}

// keep keeps a table open. It returns those that are evicted for it, and perhaps the table itself: the caller
// releases them. One that is not in the current version evicts none, since lookups use those that are there.
// The caller holds mu.
func (s *Set) keep(r *resident) (evicted []*resident) {
	if old := s.unkeep(r.m); old != nil { // of Reopen, or of a table that was replaced
		evicted = append(evicted, old)
	}
	size := r.reader.MemorySize()
	if r.m.old != nil && s.o.MemorySize > 0 && s.size+size > s.o.MemorySize {
		return evicted
	}
	r.refs.Acquire()
	r.m.resident.Store(r)
	r.counted.Store(size)
	s.size += size
	evicted = append(evicted, s.evict()...)
	if s.kept.Add(r); s.kept.Len() == 1 { // it can be too large by itself
		evicted = append(evicted, s.evict()...)
	}
	return evicted
}

// evict takes tables from those that are kept open, by CLOCK, until the others fit into the bound. The caller
// holds mu, and releases them without it.
func (s *Set) evict() (evicted []*resident) {
	for s.o.MemorySize > 0 && s.size > s.o.MemorySize && s.kept.Len() > 0 {
		r := s.kept.Take(func(r *resident) bool { return r.touched.Swap(false) })
		s.size -= r.counted.Load()
		r.m.resident.Store(nil)
		evicted = append(evicted, r)
	}
	return evicted
}

// unkeep ends that a table is kept open. It returns the Reader, or nil if the table is not open. The caller
// holds mu, and releases the Reader without it.
func (s *Set) unkeep(m *member) *resident {
	r := m.resident.Load()
	if r != nil {
		s.kept.Remove(r)
		s.size -= r.counted.Load()
		m.resident.Store(nil)
	}
	return r
}
