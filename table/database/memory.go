package database

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A memory has the writes of logs, in the order of their internal keys. It is small for small writes:
// a hostile log has very many of them.
type memory struct {
	order table.Comparer // of internal keys
	data  []byte         // of each write: the length of its internal key, the key, the length of its value, the value
	at    []int          // where each write is in data
}

// add adds a write at the end. sort comes after the last one.
func (m *memory) add(w wal.Write) {
	m.at = append(m.at, len(m.data))
	key := table.InternalKey{UserKey: w.UserKey, Sequence: w.Sequence, Kind: w.Kind}
	m.data = binary.AppendUvarint(m.data, uint64(len(w.UserKey)+format.InternalTrailerLen))
	m.data = key.Append(m.data)
	m.data = binary.AppendUvarint(m.data, uint64(len(w.Value)))
	m.data = append(m.data, w.Value...)
}

// sort sorts the writes. Of equal ones the last comes first, and so counts: an engine that failed to
// write a batch gives its sequence numbers to the next one.
func (m *memory) sort() {
	slices.SortFunc(m.at, func(a, b int) int {
		keyA, _ := cut(m.data[a:])
		keyB, _ := cut(m.data[b:])
		return cmp.Or(m.order.Compare(keyA, keyB), cmp.Compare(b, a))
	})
}

// cut returns the first part of data, whose length comes before it, and what follows.
func cut(data []byte) (part, rest []byte) {
	n, size := binary.Uvarint(data)
	end := size + int(n)
	return data[size:end:end], data[end:]
}

// entry returns the internal key and the value of write i.
func (m *memory) entry(i int) (key, value []byte) {
	key, rest := cut(m.data[m.at[i]:])
	value, _ = cut(rest)
	return key, value
}

// search returns the number of the first write that is ≥ an internal key.
func (m *memory) search(key []byte) int {
	return sort.Search(len(m.at), func(i int) bool {
		k, _ := cut(m.data[m.at[i]:])
		return m.order.Compare(k, key) >= 0
	})
}

// iter returns an Iterator over the writes ≥ lower and < upper, which are internal keys. nil is no
// bound.
func (m *memory) iter(lower, upper []byte) merge.Iterator {
	from, to := 0, len(m.at)
	if lower != nil {
		from = m.search(lower)
	}
	if upper != nil {
		to = max(from, m.search(upper))
	}
	return merge.NewMemoryIter(m.order, to-from, func(i int) (key, value []byte) { return m.entry(from + i) })
}
