package set

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/clock"
	"github.com/sievetable/sievetable/internal/refs"
	"github.com/sievetable/sievetable/table"
)

// A member is a table of a Set. It is open if it has a resident, being opened if it has a load, and else
// closed. Lookups use a resident without a lock. All else changes under the Set's mu.
//
// Versions, loads and the reads that are under way hold references. With the last one, the Source forgets
// the table.
type member struct {
	Table
	s        *Set
	number   int64 // that no other member of any Set has
	refs     refs.Count
	tailSize atomic.Int64 // one that has opened the table, or that of the current manifest

	resident atomic.Pointer[resident] // nil if the table is not open
	replaced atomic.Int64             // counts how often the Source has forgotten the table: see file
	failed   atomic.Pointer[error]    // of the last opening or read; nil: it did not fail

	// The Set's mu guards these.
	versions  int   // how many versions have it; 0: it is not to be kept open
	loading   *load // nil if it is not being opened
	first     int64 // the count of replaced when it was opened first, or notOpened
	filterErr error // of the last Reader

	// old is closed when the member has ended or is in the current version again. It is nil
	// while the member is in the current version.
	old chan struct{}
}

// notOpened is the first of a member that was never open.
const notOpened = -1

// members counts the members of all Sets.
var members atomic.Int64

// member returns the table t for a new version. If the Set has that table, the versions share it.
func (s *Set) member(ctx context.Context, t *Table) (*member, error) {
	for {
		m, ending, err := s.join(t)
		if err != nil {
			return nil, err
		}
		if ending == nil {
			if field := m.differs(t); field != "" {
				m.leave()
				return nil, fmt.Errorf("set: table %q is in use with another %s: "+
					"give a new table a new name, or Drain before its name is used again", t.Name, field)
			}
			return m, nil
		}
		select { // for a moment, since nobody reads it any more
		case <-ending:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join returns the table of t's name with one more version. If one is just ending, join returns
// what is closed when it has.
func (s *Set) join(t *Table) (m *member, ending <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, table.ErrClosed
	}
	m = s.members[t.Name]
	if m == nil {
		m = &member{Table: *t, s: s, number: members.Add(1), first: notOpened, old: make(chan struct{})}
		m.tailSize.Store(t.TailSize)
		s.members[t.Name] = m
	}
	if !m.refs.Acquire() {
		return nil, m.old, nil
	}
	m.versions++
	return m, nil, nil
}

// differs returns the field in which t is not the same table, or "". A TailSize can differ: it only says how the
// table is opened.
func (m *member) differs(t *Table) string {
	switch {
	case m.SHA256 != t.SHA256:
		return "sha256"
	case m.Size != t.Size:
		return "size"
	case m.Entries != t.Entries:
		return "entries"
	case !bytes.Equal(m.Smallest, t.Smallest):
		return "smallest"
	case !bytes.Equal(m.Largest, t.Largest):
		return "largest"
	case m.TailSum != t.TailSum && t.TailSum != "": // it was opened without, or with another one
		return "tailSum"
	}
	return ""
}

// leave ends that a version has the table. The last version closes it.
func (m *member) leave() {
	defer m.release()
	m.s.mu.Lock()
	m.versions--
	var r *resident
	if m.versions == 0 {
		r = m.s.unkeep(m)
	}
	m.s.mu.Unlock()
	r.release()
}

// release drops a reference. It must not be called with a mutex held.
func (m *member) release() {
	if !m.refs.Release() {
		return
	}
	defer m.end() // also if the Source panics
	if f, ok := m.s.src.(Forgetter); ok {
		f.Forget(m.Name)
	}
}

// end removes a table that the Source has forgotten.
func (m *member) end() {
	m.s.mu.Lock()
	delete(m.s.members, m.Name)
	done := m.s.doneWith()
	m.s.mu.Unlock()
	if done != nil {
		done.Close() // of files that were only read
	}
	close(m.old)
}

// doneWith returns the Source if the Set has to close it now. The caller holds mu.
func (s *Set) doneWith() io.Closer {
	if !s.closed || len(s.members) > 0 {
		return nil
	}
	c := s.owned
	s.owned = nil
	return c
}

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
