package set

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A memory has the tables that are open, and says which are to be closed. It goes around them as
// the CLOCK algorithm does, and passes over those that were used since it came by last. A new
// one counts as not used: tables that are asked once do not close those that are asked again and
// again.
type memory struct {
	bound int64        // of size; 0: none
	total atomic.Int64 // bytes of all Readers, also of those that are still in use but closed

	mu   sync.Mutex
	size int64     // bytes of open
	open []*opened // in the order of the clock
	hand int       // in open: the next to be closed
}

// add adds an open table. It returns others that are closed for it, and perhaps the table
// itself: the caller releases them.
func (m *memory) add(o *opened) (evicted []*opened) {
	if m.bound == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = slices.Insert(m.open, m.hand, o) // where the hand comes last
	m.hand++
	m.size += o.r.MemorySize()
	for visits := len(m.open); m.size > m.bound; visits-- {
		m.hand %= len(m.open)
		o := m.open[m.hand]
		if o.touched.Swap(false) && visits > 0 { // at most one round: others may use them meanwhile
			m.hand++
			continue
		}
		m.removeAt(m.hand)
		if o.m.opened.CompareAndSwap(o, nil) {
			evicted = append(evicted, o)
		}
	}
	return evicted
}

// remove removes a table that is not open any more, if it is there.
func (m *memory) remove(o *opened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.open, o); i >= 0 {
		m.removeAt(i)
	}
}

// removeAt removes the table at i.
func (m *memory) removeAt(i int) {
	m.size -= m.open[i].r.MemorySize()
	m.open = slices.Delete(m.open, i, i+1)
	if i < m.hand {
		m.hand--
	}
}
