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

// A member is a table of a Set, whose handles open it. Lookups use the handle that is kept without a lock. All
// else changes under the Set's mu.
//
// Versions, handles that are being opened, and the reads that are under way hold references. With the last one,
// the Source forgets the table.
type member struct {
	Table
	s        *Set
	number   int64 // that no other member of any Set has
	refs     refs.Count
	tailSize atomic.Int64 // one that has opened the table, or that of the current manifest

	kept     atomic.Pointer[handle] // nil if the table is not kept open
	replaced atomic.Int64           // counts how often the Source has forgotten the table: see handle
	failed   atomic.Pointer[error]  // of the last opening or read; nil: it did not fail

	// The Set's mu guards these.
	versions  int     // how many versions have it; 0: it is not to be kept open
	loading   *handle // nil if it is not being opened
	first     int64   // the count of replaced when it was opened first, or notOpened
	filterErr error   // of the last Reader

	// old is closed when the member has ended or is in the current version again. It is nil
	// while the member is in the current version.
	old chan struct{}

	filterBits atomic.Int32 // how many bits of its filter it may keep, when it is opened
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
					"use a new name, or Drain before using the name again", t.Name, field)
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
		m.filterBits.Store(everyBit)
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

// noteEnd notes how the last opening or read has ended.
func (m *member) noteEnd(err error) {
	if err != nil {
		m.failed.Store(&err)
	} else if m.failed.Load() != nil { // it seldom is: the memory stays shared by all processors
		m.failed.Store(nil)
	}
}
