package table

import (
	"errors"
	"slices"
	"sort"
)

// A MergingIter is an [Iterator] over all the entries of other Iterators, in one
// order. Entries of equal keys are all shown: that of the earlier Iterator comes
// first.
type MergingIter struct {
	place
	order   keyOrder
	sources []source
	up      bool   // going up: all other sources are after the entry; else before it
	queue   []int  // the sources that are at an entry, in the order to show them
	target  []byte // a key that is sought: the one given may be a part of a source that moves
}

// source is one of the iterators that are merged.
type source struct {
	it  Iterator
	key []byte // its entry's
}

// NewMergingIter returns a MergingIter over the Iterators, each of which must be in
// c's order. They are its own from then on: it moves them, from wherever they are,
// and its Close closes them. An error of one fails the move, as it is.
//
// Where keys have no sequence numbers, give the Iterator with the newest entries
// first: going up, the first of equal keys is then the newest.
func NewMergingIter(c Comparer, its ...Iterator) *MergingIter {
	m := &MergingIter{order: orderOf(c), sources: make([]source, len(its)), queue: make([]int, 0, len(its))}
	for i, it := range its {
		m.sources[i].it = it
	}
	return m
}

// Source returns the index of the Iterator that the entry is of, as NewMergingIter
// was given them; −1 if there is no entry.
func (m *MergingIter) Source() int {
	if m.at != atEntry {
		return -1
	}
	return m.queue[0]
}

// Key returns the entry's key. It is valid until the next move, and must not be
// changed.
func (m *MergingIter) Key() []byte {
	if m.at != atEntry {
		return nil
	}
	return m.sources[m.queue[0]].key
}

// Value returns the entry's value. It is valid until the next move, and must not be
// changed.
func (m *MergingIter) Value() []byte {
	if m.at != atEntry {
		return nil
	}
	return m.sources[m.queue[0]].it.Value()
}

// First moves to the first entry.
func (m *MergingIter) First() bool { return m.moveAll(true, Iterator.First) }

// Last moves to the last entry.
func (m *MergingIter) Last() bool { return m.moveAll(false, Iterator.Last) }

// SeekGE moves to the first entry whose key is ≥ key, which may be a part of Key.
func (m *MergingIter) SeekGE(key []byte) bool {
	m.target = append(m.target[:0], key...)
	return m.moveAll(true, func(it Iterator) bool { return it.SeekGE(m.target) })
}

// SeekLT moves to the last entry whose key is < key, which may be a part of Key.
func (m *MergingIter) SeekLT(key []byte) bool {
	m.target = append(m.target[:0], key...)
	return m.moveAll(false, func(it Iterator) bool { return it.SeekLT(m.target) })
}

// Next moves to the next entry, from before the first one to the first one, and from
// the last one to after it.
func (m *MergingIter) Next() bool {
	switch {
	case m.at == atEntry && m.up:
		m.at = lost // until the move is made
		return m.step(m.sources[m.queue[0]].it.Next())
	case m.at == atEntry:
		return m.moveAll(true, Iterator.Next) // all others are before this entry, or before their first
	case m.at == beforeFirst:
		return m.First()
	}
	return false
}

// Prev moves to the entry before, from after the last one to the last one, and from
// the first one to before it.
func (m *MergingIter) Prev() bool {
	switch {
	case m.at == atEntry && !m.up:
		m.at = lost
		return m.step(m.sources[m.queue[0]].it.Prev())
	case m.at == atEntry:
		return m.moveAll(false, Iterator.Prev) // all others are after this entry, or after their last
	case m.at == afterLast:
		return m.Last()
	}
	return false
}

// moveAll moves all sources, to go up or down from there.
func (m *MergingIter) moveAll(up bool, move func(Iterator) bool) bool {
	if !m.depart() {
		return false
	}
	m.up, m.queue = up, m.queue[:0]
	for i := range m.sources {
		s := &m.sources[i]
		switch {
		case move(s.it):
			s.key = s.it.Key()
			n := m.rank(i, m.queue)
			m.queue = slices.Insert(m.queue, n, i)
		case s.it.Error() != nil:
			return m.fail(s.it.Error())
		}
	}
	return m.show()
}

// step ends a move of the first source in the queue: found says whether it is at an
// entry.
func (m *MergingIter) step(found bool) bool {
	first := m.queue[0]
	s, others := &m.sources[first], m.queue[1:]
	if !found {
		if err := s.it.Error(); err != nil {
			return m.fail(err)
		}
		m.queue = m.queue[:copy(m.queue, others)]
		return m.show()
	}
	s.key = s.it.Key()
	if len(others) > 0 && m.before(others[0], first) {
		n := 1 + m.rank(first, others[1:])
		copy(m.queue, others[:n])
		m.queue[n] = first
	}
	return m.arrive()
}

// rank returns how many sources of a queue come before source i.
func (m *MergingIter) rank(i int, queue []int) int {
	return sort.Search(len(queue), func(n int) bool { return m.before(i, queue[n]) })
}

// before reports whether the entry of source i is to be shown before that of j.
func (m *MergingIter) before(i, j int) bool {
	c := m.order.compare(m.sources[i].key, m.sources[j].key)
	if c == 0 {
		c = i - j
	}
	return c < 0 == m.up
}

// show ends a move at the first entry of the queue.
func (m *MergingIter) show() bool {
	switch {
	case len(m.queue) > 0:
		return m.arrive()
	case m.up:
		return m.leave(afterLast)
	}
	return m.leave(beforeFirst)
}

// Close closes the Iterators and returns Error, joined with what went wrong in
// closing. Every move is ErrClosed from then on.
func (m *MergingIter) Close() error {
	err := m.Error()
	for _, s := range m.sources {
		if e := closeIterator(s.it); e != nil {
			err = errors.Join(err, e)
		}
	}
	*m = MergingIter{place: closedPlace}
	return err
}
