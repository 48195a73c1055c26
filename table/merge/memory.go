package merge

import (
	"sort"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
)

// A MemoryIter is an [Iterator] over entries in memory, such as an engine's memtable.
type MemoryIter struct {
	iterState
	order rowblock.Order
	n     int
	entry func(i int) (key, value []byte)

	i     int // index of the entry; -1: before the first one
	value []byte
}

// NewMemoryIter returns a MemoryIter over n entries in c's order, bytewise if c is nil, but not [table.AnyOrder].
// entry(i) returns the key and the value of entry i, 0 <= i < n. The entries must not change: pass a copy of a list
// that grows. Its keys and values need not be copied.
func NewMemoryIter(c table.Comparer, n int, entry func(i int) (key, value []byte)) *MemoryIter {
	return &MemoryIter{order: rowblock.OrderOf(c), n: n, entry: entry, i: -1}
}

// Value returns the entry's value until the next move. Do not modify it.
func (m *MemoryIter) Value() []byte {
	if m.at != atEntry {
		return nil
	}
	return m.value
}

// First moves to the first entry, and returns Valid.
func (m *MemoryIter) First() bool { return m.startMove() && m.moveTo(0) }

// Last moves to the last entry, and returns Valid.
func (m *MemoryIter) Last() bool { return m.startMove() && m.moveTo(m.n-1) }

// SeekGE moves to the first entry >= key, and returns Valid.
func (m *MemoryIter) SeekGE(key []byte) bool { return m.startMove() && m.moveTo(m.search(key)) }

// SeekLT moves to the last entry < key, and returns Valid.
func (m *MemoryIter) SeekLT(key []byte) bool { return m.startMove() && m.moveTo(m.search(key)-1) }

// search returns the index of the first entry whose key is ≥ key, or n if there is none.
func (m *MemoryIter) search(key []byte) int {
	return sort.Search(m.n, func(i int) bool {
		k, _ := m.entry(i)
		return compare(&m.order, k, key) >= 0
	})
}

// Next moves to the next entry, and returns Valid.
func (m *MemoryIter) Next() bool {
	return (m.at == beforeFirst || m.at == atEntry) && m.moveTo(m.i+1)
}

// Prev moves to the previous entry, and returns Valid.
func (m *MemoryIter) Prev() bool {
	return (m.at == afterLast || m.at == atEntry) && m.moveTo(m.i-1)
}

// moveTo ends a move at entry i, or outside if there is no entry i.
func (m *MemoryIter) moveTo(i int) bool {
	m.i = i
	switch {
	case i < 0:
		return m.endAt(beforeFirst)
	case i >= m.n:
		return m.endAt(afterLast)
	}
	m.at = failed // until the move ends
	key, value := m.entry(i)
	m.key, m.value = format.AppendNotNil(key, nil), format.AppendNotNil(value, nil)
	return m.endAt(atEntry)
}

// Close returns Error, and releases the entries.
func (m *MemoryIter) Close() error {
	err := m.Error()
	*m = MemoryIter{iterState: closedState}
	return err
}
