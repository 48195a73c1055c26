package set

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/refs"
	"github.com/sievetable/sievetable/table"
)

// A member is a table of a Set. Its handles open it. Lookups use the kept handle without a lock.
//
// Versions, handles that are being opened, and running reads hold references. When the last one is released, the
// Source forgets the table.
type member struct {
	Table
	s        *Set
	number   int64 // unique among the members of all Sets
	refs     refs.Count
	tailSize atomic.Int64 // the one that opened the table, or else the current manifest's

	kept     atomic.Pointer[handle] // nil if the table is not kept open
	replaced atomic.Int64           // counts how often the Source has forgotten the table: see handle
	failed   atomic.Pointer[error]  // of the last opening or read; nil if it succeeded

	// The Set's mu guards these.
	versions  int     // number of versions that have it; if 0, it is not kept open
	loading   *handle // nil if it is not being opened
	first     int64   // the value of replaced when it was first opened for somebody, or notOpened
	filterErr error   // of the last Reader

	// old is closed when the member has ended or is in the current version again. It is nil
	// while the member is in the current version.
	old chan struct{}

	filterBits atomic.Int32 // the number of bits that its filter may keep when it is opened
}

// notOpened is the value of first until the first opening.
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
					"use a new name, or Drain before using the name again", t.Name, field)
			}
			return m, nil
		}
		select { // briefly, since nobody reads it any more
		case <-ending:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join returns the member of t's name, used by one more version. If that member is ending, join instead returns a
// channel that is closed when it has ended.
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
		m.filterBits.Store(everyBit)
		s.members[t.Name] = m
	}
	if !m.refs.Acquire() {
		return nil, m.old, nil
	}
	m.versions++
	return m, nil, nil
}

// differs returns the name of a field that t does not share with the member, or "". TailSize may differ: it only
// says how the table is opened.
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
	case m.TailSum != t.TailSum:
		return "tailSum"
	}
	return ""
}

// leave drops a version's use of the table. After the last one, the table is no longer kept open.
func (m *member) leave() {
	defer m.unref()
	m.s.mu.Lock()
	m.versions--
	var h *handle
	if m.versions == 0 {
		h = m.s.unkeep(m)
	}
	m.s.mu.Unlock()
	h.release()
}

// unref drops a reference. It must not be called with a mutex held.
func (m *member) unref() {
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
		done.Close() // the files were only read
	}
	close(m.old)
}

// doneWith returns the owned Source if it is now to be closed, or nil. The caller holds mu.
func (s *Set) doneWith() io.Closer {
	if !s.closed || len(s.members) > 0 {
		return nil
	}
	c := s.owned
	s.owned = nil
	return c
}

// recordResult records the error of the last opening or read, or its success.
func (m *member) recordResult(err error) {
	if err != nil {
		m.failed.Store(&err)
	} else if m.failed.Load() != nil { // rarely: without a write, all processors share the cache line
		m.failed.Store(nil)
	}
}
