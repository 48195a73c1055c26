package merge

import (
	"slices"

	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
)

// An Iter is an [Iterator] that merges others in one order. It returns entries with equal keys in the order in which
// their Iterators were given.
type Iter struct {
	iterState
	order     rowblock.Order
	sources   []source
	ascending bool     // the other sources are after the entry; else they are before it
	queue     []queued // the sources that are at an entry, in the order to return them
	prefix    []byte   // a common prefix of all keys in the queue
	flip      uint64   // what the numbers in the queue are XORed with: 0, or all bits if descending
	ties      int      // comparisons of equal numbers since the prefix was set
	seekKey   []byte   // a copy of the key to seek, which may be in a source's memory
}

// New returns an Iter over Iterators in c's order, bytewise if c is nil, but not [table.AnyOrder]. The Iter owns
// them. If keys have no sequence numbers, give the Iterator with the newest entries first: Next then returns the
// newest of equal keys first.
func New(c table.Comparer, its ...Iterator) *Iter {
	n := len(its)
	m := &Iter{order: rowblock.OrderOf(c), sources: make([]source, n), queue: make([]queued, 0, n)}
	for i, it := range its {
		m.sources[i].it = it
		if it, ok := it.(*table.Iter); ok {
			it.PrepareMerge()
		}
	}
	return m
}

// Source returns the index of the entry's Iterator in the arguments of New, or -1.
func (m *Iter) Source() int {
	if m.at != atEntry {
		return -1
	}
	return m.queue[0].source
}

// first returns the source of the entry.
func (m *Iter) first() *source { return &m.sources[m.queue[0].source] }

// Key returns the entry's key until the next move. Do not modify it.
func (m *Iter) Key() []byte { // instead of iterState's, so that moves need not set its key
	if m.at != atEntry {
		return nil
	}
	return m.first().key
}

// Value returns the entry's value until the next move. Do not modify it.
func (m *Iter) Value() []byte {
	if m.at != atEntry {
		return nil
	}
	return m.first().it.Value()
}

// First moves to the first entry, and returns Valid.
func (m *Iter) First() bool { return m.moveAll(true, Iterator.First) }

// Last moves to the last entry, and returns Valid.
func (m *Iter) Last() bool { return m.moveAll(false, Iterator.Last) }

// SeekGE moves to the first entry >= key, and returns Valid.
func (m *Iter) SeekGE(key []byte) bool {
	m.seekKey = append(m.seekKey[:0], key...)
	return m.moveAll(true, func(it Iterator) bool { return it.SeekGE(m.seekKey) })
}

// SeekLT moves to the last entry < key, and returns Valid.
func (m *Iter) SeekLT(key []byte) bool {
	m.seekKey = append(m.seekKey[:0], key...)
	return m.moveAll(false, func(it Iterator) bool { return it.SeekLT(m.seekKey) })
}

// Next moves to the next entry, and returns Valid.
func (m *Iter) Next() bool {
	switch {
	case m.at == atEntry && m.ascending:
		m.at = failed // until the move ends
		return m.endMoveOfFirst(m.first().it.Next())
	case m.at == atEntry:
		return m.moveAll(true, Iterator.Next) // all others are before it, or before their first entry
	case m.at == beforeFirst:
		return m.First()
	}
	return false
}

// Prev moves to the previous entry, and returns Valid.
func (m *Iter) Prev() bool {
	switch {
	case m.at == atEntry && !m.ascending:
		m.at = failed
		return m.endMoveOfFirst(m.first().it.Prev())
	case m.at == atEntry:
		return m.moveAll(false, Iterator.Prev) // all others are after it, or after their last entry
	case m.at == afterLast:
		return m.Last()
	}
	return false
}

// moveAll moves all sources. The Iter is ascending or descending from there on.
func (m *Iter) moveAll(ascending bool, move func(Iterator) bool) bool {
	if !m.startMove() {
		return false
	}
	m.ascending, m.queue = ascending, m.queue[:0]
	for i := range m.sources {
		s := &m.sources[i]
		switch {
		case move(s.it):
			s.key = s.it.Key()
			q := queued{source: i}
			m.queue = slices.Insert(m.queue, m.rank(q, m.queue), q)
		case s.it.Error() != nil:
			return m.fail(s.it.Error())
		}
	}
	m.flip = 0
	if !ascending {
		m.flip = ^uint64(0)
	}
	m.lengthenPrefix()
	return m.endMove()
}

// endMoveOfFirst ends a move in which only the first source of the queue has moved. found reports whether it is at
// an entry.
func (m *Iter) endMoveOfFirst(found bool) bool {
	s, q := m.first(), m.queue
	if !found {
		if err := s.it.Error(); err != nil {
			return m.fail(err)
		}
		m.queue = q[:copy(q, q[1:])]
		return m.endMove()
	}
	s.key = s.it.Key()
	if len(q) == 1 {
		return m.endMove()
	}
	moved := queued{m.abbreviate(s.key), q[0].source}
	n := 0
	if m.before(q[1], moved) {
		n = 1 + m.rank(moved, q[2:])
		copy(q, q[1:1+n])
	}
	q[n] = moved
	if m.ties > len(q) {
		m.lengthenPrefix()
	}
	return m.endMove()
}

// endMove ends a move at the entry of the first source in the queue, or outside if the
// queue is empty.
func (m *Iter) endMove() bool {
	switch {
	case len(m.queue) > 0:
		return m.endAt(atEntry)
	case m.ascending:
		return m.endAt(afterLast)
	}
	return m.endAt(beforeFirst)
}

// Close closes the underlying Iterators, and returns Error joined with their errors.
func (m *Iter) Close() error {
	err := m.Error()
	for _, s := range m.sources {
		err = closeIterator(s.it, err)
	}
	*m = Iter{iterState: closedState}
	return err
}
