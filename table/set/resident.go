package set

import (
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/internal/refs"
	"github.com/sievetable/sievetable/table"
)

// A resident is the Reader of an open table, with a reference count. Lookups and Iters hold
// references. The table holds one until it drops the Reader and no lookup is in a stripe.
type resident struct {
	m         *member
	reader    *table.Reader
	epoch     int64 // of the file that is read
	filterErr error // of the Reader, when the table was opened
	refs      refs.Count
	touched   atomic.Bool // used since the clock came by

	stripes  atomic.Pointer[[stripes]stripe] // nil until there are lookups at the same time
	dropped  atomic.Bool
	released atomic.Bool // the reference of the table

	// What residents know. Their mu guards kept, links and each change of counted.
	kept    bool // in the clock, as the table is kept open
	links   clock.Links[resident]
	counted atomic.Int64 // bytes
}

// ClockLinks returns the neighbors of the Reader.
func (r *resident) ClockLinks() *clock.Links[resident] { return &r.links }

// acquireResident returns the open Reader with one more reference, or nil if the table is not open.
func (m *member) acquireResident() *resident {
	r := m.resident.Load()
	if r == nil || !r.refs.Acquire() {
		return nil
	}
	r.touch()
	return r
}

// touch notes that the table is used.
func (r *resident) touch() {
	if !r.touched.Load() {
		r.touched.Store(true)
	}
}

// release drops a reference. With the last one, the Reader is closed.
func (r *resident) release() {
	r.recount()
	r.releaseCounted()
}

// recount counts the memory of a Reader that was used, if there is a bound. That can close tables.
func (r *resident) recount() {
	if r.m.s.residents.bound > 0 {
		r.m.s.residents.recount(r)
	}
}

// releaseCounted is release of a Reader whose memory was counted.
func (r *resident) releaseCounted() {
	if !r.refs.Release() {
		return
	}
	defer r.m.release()
	r.m.s.residents.untrack(r)
	r.reader.Close() // closes no file
}

// drop drops the reference of the table, which is not resident any more: m.resident is another one or
// nil. It must not be called with a mutex held.
func (r *resident) drop() {
	r.m.s.residents.unkeep(r)
	r.dropped.Store(true)
	r.endStripes()
}

// residents are the Readers of a Set. Those that are kept open fit into a bound: what does not fit is
// evicted by CLOCK.
type residents struct {
	bound int64 // of size; 0: none

	mu   sync.Mutex
	all  map[*resident]struct{} // also those that are still in use but closed
	kept clock.Clock[resident, *resident]
	size int64 // bytes of kept, as they were counted last
}

// track adds a Reader that is not kept open yet.
func (s *residents) track(r *resident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[r] = struct{}{}
}

// untrack removes a Reader that has no references any more.
func (s *residents) untrack(r *resident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, r)
}

// total returns how many bytes all Readers take.
func (s *residents) total() (size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.all {
		size += r.reader.MemorySize()
	}
	return size
}

// keep adds a table that is kept open. It returns those that are evicted for it, and perhaps the table
// itself: the caller drops them. One that was not published yet evicts none, since lookups use those that
// are there.
func (s *residents) keep(r *resident, published bool) (evicted []*resident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := r.reader.MemorySize()
	if !published && s.bound > 0 && s.size+size > s.bound {
		r.m.resident.CompareAndSwap(r, nil)
		return []*resident{r}
	}
	r.counted.Store(size)
	s.size += r.counted.Load()
	evicted = s.evict()
	r.kept = true
	if s.kept.Add(r); s.kept.Len() == 1 { // it can be too large by itself
		evicted = append(evicted, s.evict()...)
	}
	return evicted
}

// recount counts a table again that is in use, since a Reader takes more memory the more it is used.
// It closes what does not fit any more.
func (s *residents) recount(r *resident) {
	if r.reader.MemorySize() == r.counted.Load() {
		return
	}
	var evicted []*resident
	s.mu.Lock()
	if r.kept {
		size := r.reader.MemorySize()
		s.size += size - r.counted.Swap(size)
		evicted = s.evict()
	}
	s.mu.Unlock()
	for _, e := range evicted {
		e.drop()
	}
}

// evict takes tables from those that are kept until the others fit. The caller holds mu.
func (s *residents) evict() (evicted []*resident) {
	for s.bound > 0 && s.size > s.bound && s.kept.Len() > 0 {
		r := s.kept.Take(func(r *resident) bool { return r.touched.Swap(false) })
		s.size -= r.counted.Load()
		r.kept = false
		if r.m.resident.CompareAndSwap(r, nil) {
			evicted = append(evicted, r)
		}
	}
	return evicted
}

// unkeep removes a table that is not kept open any more, if it is there.
func (s *residents) unkeep(r *resident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.kept {
		s.kept.Remove(r)
		s.size -= r.counted.Load()
		r.kept = false
	}
}
