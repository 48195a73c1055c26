package set

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// A sharedTable is what members of one name share, of all Sets of one Source: when that forgets the
// table for one of them, it has forgotten it for all.
type sharedTable struct {
	// replaced goes up before the Source forgets the table while it has members, and again when it
	// has. What was read under another count may be of another table than what is read now: see file.
	replaced atomic.Int64

	members int           // the mu of sharedTables guards it; 0: the Source is forgetting the table
	ended   chan struct{} // closed when the Source has forgotten it
}

// A tableOf is the name of a table of a Source.
type tableOf struct {
	src  Source
	name string
}

// sharedTables are those of all Sets, but for Sources that forget nothing.
var sharedTables = struct {
	mu  sync.Mutex
	all map[tableOf]*sharedTable
}{all: map[tableOf]*sharedTable{}}

// share returns the sharedTable for a new member. If the Source is just forgetting the table, it
// returns what is closed when it has.
func (s *Set) share(name string) (t *sharedTable, ending <-chan struct{}) {
	if !s.sharesSource() {
		return &sharedTable{members: 1}, nil
	}
	sharedTables.mu.Lock()
	defer sharedTables.mu.Unlock()
	key := tableOf{s.src, name}
	t = sharedTables.all[key]
	switch {
	case t == nil:
		t = &sharedTable{ended: make(chan struct{})}
		sharedTables.all[key] = t
	case t.members == 0:
		return nil, t.ended
	}
	t.members++
	return t, nil
}

// sharesSource reports whether other Sets can have the Source and matter to this one.
func (s *Set) sharesSource() bool {
	_, forgets := s.src.(Forgetter)
	return forgets && reflect.ValueOf(s.src).Comparable()
}

// unshare ends that m, which has ended, shares its table. With the last member, the Source forgets
// the table.
func (s *Set) unshare(m *member) {
	f, ok := s.src.(Forgetter)
	if !ok || !m.shared.removeMember() {
		return
	}
	defer s.removeShared(m) // also if the Source panics
	f.Forget(m.Name)
}

// removeMember removes a member, and reports whether it was the last one.
func (t *sharedTable) removeMember() bool {
	sharedTables.mu.Lock()
	defer sharedTables.mu.Unlock()
	t.members--
	return t.members == 0
}

// removeShared removes the sharedTable of m, which has no members.
func (s *Set) removeShared(m *member) {
	if m.shared.ended == nil {
		return // it is m's own
	}
	sharedTables.mu.Lock()
	delete(sharedTables.all, tableOf{s.src, m.Name})
	sharedTables.mu.Unlock()
	close(m.shared.ended)
}
