package merge

import (
	"bytes"
	"sort"

	"github.com/sievetable/sievetable/internal/format"
)

// This file has the queue of an Iter: the sources that are at an entry, in the order in which they are returned.

// A source is one of the Iterators to merge.
type source struct {
	it  Iterator
	key []byte // of its current entry
}

// A queued is a source in the queue. If two numbers differ, the source with the smaller one comes first, so most
// comparisons of keys only compare numbers.
type queued struct {
	number uint64 // 8 bytes of the key, after the prefix; 0 if the order is not bytewise
	source int
}

// abbreviate returns the number of a key. If the key does not have the prefix, abbreviate shortens the prefix.
func (m *Iter) abbreviate(key []byte) uint64 {
	if !m.order.Bytewise() {
		return 0
	}
	ordered := m.order.Prefix(key)
	if !bytes.HasPrefix(ordered, m.prefix) {
		m.setPrefix(m.prefix[:format.SharedLen(m.prefix, ordered)])
	}
	return format.First8(ordered[len(m.prefix):]) ^ m.flip
}

// lengthenPrefix sets the prefix to the longest one that all keys in the queue share.
func (m *Iter) lengthenPrefix() {
	if !m.order.Bytewise() || len(m.queue) == 0 {
		return
	}
	first := m.order.Prefix(m.sources[m.queue[0].source].key)
	last := m.order.Prefix(m.sources[m.queue[len(m.queue)-1].source].key)
	m.setPrefix(append(m.prefix[:0], first[:format.SharedLen(first, last)]...))
}

// setPrefix sets the prefix, and the numbers of all sources in the queue.
func (m *Iter) setPrefix(prefix []byte) {
	m.prefix, m.ties = prefix, 0
	for i := range m.queue {
		q := &m.queue[i]
		ordered := m.order.Prefix(m.sources[q.source].key)
		q.number = format.First8(ordered[min(len(prefix), len(ordered)):]) ^ m.flip
	}
}

// rank returns the number of sources in the queue that come before x. Most numbers differ. It compares them without
// branches, which the processor would often mispredict.
func (m *Iter) rank(x queued, queue []queued) int {
	low, n := 0, len(queue)
	for n > 8 {
		half := n / 2
		low += half * format.Less(queue[low+half-1].number, x.number)
		n -= half
	}
	for _, q := range queue[low : low+n] {
		low += format.Less(q.number, x.number)
	}
	if low == len(queue) || queue[low].number != x.number {
		return low
	}
	same := queue[low:]
	return low + sort.Search(len(same), func(i int) bool { return m.before(x, same[i]) })
}

// before reports whether x comes before y.
func (m *Iter) before(x, y queued) bool {
	if x.number != y.number {
		return x.number < y.number
	}
	m.ties++
	c := compare(&m.order, m.sources[x.source].key, m.sources[y.source].key)
	if c == 0 {
		c = x.source - y.source
	}
	return c < 0 == m.ascending
}
