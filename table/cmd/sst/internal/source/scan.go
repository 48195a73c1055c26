package source

import (
	"bytes"
	"container/heap"
	"iter"

	"github.com/sievetable/sievetable/table"
)

// ScanOptions say which entries are seen, and in which order.
type ScanOptions struct {
	From, To []byte // keys not below From and below To, users' keys of internal ones; nil: no bound
	Reverse  bool   // from the last key to the first
	Versions bool   // all versions of a key, and tombstones, and not only what the newest one says
}

// readAhead is how much of a table is read at once.
const readAhead = 256 << 10

// Scan returns the entries of the tables together, in the order of their keys, and of
// one key's versions the newest first (the last, if Reverse). Each is valid until the next. The
// first error ends it.
func (s *Source) Scan(o ScanOptions) iter.Seq2[Entry, error] {
	if o.Versions {
		return s.all(o)
	}
	return s.live(o)
}

// live returns what the newest version of each key says, if it is no tombstone.
func (s *Source) live(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var newest Entry // in memory of its own
		have := false
		flush := func() bool {
			return !have || newest.Kind == table.KindDelete || yield(newest, nil)
		}
		for e, err := range s.all(o) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			same := have && bytes.Equal(e.Key, newest.Key)
			if same && !e.newerThan(newest) {
				continue
			}
			if !same && !flush() {
				return
			}
			key, value := append(newest.Key[:0], e.Key...), append(newest.Value[:0], e.Value...)
			newest, have = e, true
			newest.Key, newest.Value = key, value
		}
		flush()
	}
}

// all returns all entries of all tables.
func (s *Source) all(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		m := merge{reverse: o.Reverse}
		defer m.close()
		for rank, f := range s.Files {
			if err := m.add(f, rank, o); err != nil {
				yield(Entry{}, err)
				return
			}
		}
		heap.Init(&m)
		for len(m.cursors) > 0 {
			c := m.cursors[0]
			if !yield(c.entry, nil) {
				return
			}
			if err := m.next(); err != nil {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// merge is a heap of cursors by what they are at.
type merge struct {
	cursors []*cursor
	reverse bool
}

// cursor is at an entry of a file.
type cursor struct {
	file  *File
	rank  int
	it    *table.Iter
	key   []byte // as stored
	entry Entry
}

// add adds a cursor on the file's first entry, if there is one.
func (m *merge) add(f *File, rank int, o ScanOptions) error {
	it := f.Reader.NewIter(&table.IterOptions{Lower: f.bound(o.From), Upper: f.bound(o.To), ReadAhead: readAhead})
	c := &cursor{file: f, rank: rank, it: it}
	first := it.First
	if m.reverse {
		first = it.Last
	}
	if ok, err := c.take(first()); !ok {
		return err
	}
	m.cursors = append(m.cursors, c)
	return nil
}

// bound is where all versions of a user's key come after.
func (f *File) bound(user []byte) []byte {
	if user == nil || !f.Internal {
		return user
	}
	return table.SeekKey(nil, user, table.MaxSequence)
}

// take takes the entry that the cursor's Iter moved to, if there was one to move to.
func (c *cursor) take(moved bool) (bool, error) {
	if !moved {
		return false, c.file.Wrap(c.it.Close()) // which says what ended it
	}
	var err error
	c.key = c.it.Key()
	c.entry, err = c.file.entryOf(c.key, c.it.Value())
	c.entry.rank = c.rank
	return err == nil, err
}

// next moves the cursor on top.
func (m *merge) next() error {
	c := m.cursors[0]
	move := c.it.Next
	if m.reverse {
		move = c.it.Prev
	}
	ok, err := c.take(move())
	if ok {
		heap.Fix(m, 0)
	} else {
		heap.Pop(m)
	}
	return err
}

// close closes what an early end has left open: nobody asks any more what ended it.
func (m *merge) close() {
	for _, c := range m.cursors {
		c.it.Close()
	}
}

func (m *merge) Len() int      { return len(m.cursors) }
func (m *merge) Swap(i, j int) { m.cursors[i], m.cursors[j] = m.cursors[j], m.cursors[i] }
func (m *merge) Push(x any)    { m.cursors = append(m.cursors, x.(*cursor)) }

func (m *merge) Pop() any {
	last := m.cursors[len(m.cursors)-1]
	m.cursors = m.cursors[:len(m.cursors)-1]
	return last
}

func (m *merge) Less(i, j int) bool {
	a, b := m.cursors[i], m.cursors[j]
	order := a.file.Compare(a.key, b.key)
	if m.reverse {
		order = -order
	}
	if order == 0 {
		return (a.rank < b.rank) != m.reverse
	}
	return order < 0
}
