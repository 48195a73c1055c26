package setio

import (
	"bytes"
	"slices"
)

// entrySize is how many bytes an entry takes beside those of its key and its value.
const entrySize = 32

// An entry is a key, and behind it the value as it travels.
type entry struct {
	b []byte
	n int // of the key
}

func (e entry) key() []byte   { return e.b[:e.n] }
func (e entry) value() []byte { return e.b[e.n:] }

// A run is entries that are sorted in memory. It is reused for the next run.
type run struct {
	buf     []byte // the keys and values, one after the other
	ends    []end
	entries []entry
}

// An end says where the key and the value of an entry end in buf.
type end struct{ key, value int }

// size returns about how many bytes of memory the run needs.
func (r *run) size() int { return len(r.buf) + entrySize*len(r.ends) }

// add adds a pair.
func (r *run) add(key, value []byte) {
	r.buf = append(r.buf, key...)
	n := len(r.buf)
	r.buf = appendValue(r.buf, value)
	r.ends = append(r.ends, end{n, len(r.buf)})
}

// remove adds a key that is to be removed.
func (r *run) remove(key []byte) {
	r.buf = append(append(r.buf, key...), kindRemove)
	r.ends = append(r.ends, end{len(r.buf) - 1, len(r.buf)})
}

// take returns the entries in ascending order, and empties the run. They are valid until the next add.
func (r *run) take() []entry {
	entries, start := r.entries[:0], 0
	for _, end := range r.ends {
		entries = append(entries, entry{r.buf[start:end.value:end.value], end.key - start})
		start = end.value
	}
	r.buf, r.ends, r.entries = r.buf[:0], r.ends[:0], entries
	slices.SortFunc(entries, func(a, b entry) int {
		if c := bytes.Compare(a.key(), b.key()); c != 0 {
			return c
		}
		return bytes.Compare(a.value(), b.value())
	})
	return entries
}
