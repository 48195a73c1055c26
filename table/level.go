package table

import (
	"errors"
	"fmt"
	"sort"

	"github.com/sievetable/sievetable/internal/wire"
)

// A LevelTable is what is known of one table of a level without opening it.
type LevelTable struct {
	Name              string // for errors; may be ""
	Smallest, Largest []byte // all its keys are ≥ Smallest and ≤ Largest
}

// A LevelIter is an [Iterator] over the tables of one level, as LevelDB's levels
// from 1 on are: tables whose ranges of keys do not overlap. At most one of them is
// open at a time.
type LevelIter struct {
	place
	order  keyOrder
	tables []LevelTable
	open   func(i int) (Iterator, error)

	i      int      // the table
	it     Iterator // over it, if it is open; else nil
	key    []byte   // the entry's
	target []byte   // a key that is sought, if it may be a part of a table that is left
}

// NewLevelIter returns a LevelIter over tables, whose ranges must be in c's order
// and must not overlap. They stay the caller's, and must not change while the
// LevelIter is in use.
//
// When a move reaches tables[i], open(i) returns an Iterator over it, in c's order;
// the LevelIter closes that before it opens another, when it runs off an end, and in
// Close. So open may open a file, and its Iterator's Close close it. An error of
// open, or of an Iterator, fails the move as it is.
//
// A key beyond its table's range fails the move too, with [ErrCorrupt]: no key is
// shown out of order.
func NewLevelIter(c Comparer, tables []LevelTable, open func(i int) (Iterator, error)) (*LevelIter, error) {
	l := &LevelIter{order: orderOf(c), tables: tables, open: open}
	for i, t := range tables {
		if l.order.compare(t.Smallest, t.Largest) > 0 {
			return nil, fmt.Errorf("table: level: %s: its range %s is empty, want the smallest key first", name(tables, i), t.keys())
		}
		if i > 0 && l.order.compare(tables[i-1].Largest, t.Smallest) >= 0 {
			return nil, fmt.Errorf("table: level: %s has keys %s, and %s before it %s: want ranges in order that do not overlap; merge such tables with NewMergingIter",
				name(tables, i), t.keys(), name(tables, i-1), tables[i-1].keys())
		}
	}
	return l, nil
}

// keys describes the range.
func (t *LevelTable) keys() string {
	return wire.Quote(t.Smallest) + " to " + wire.Quote(t.Largest)
}

// name names table i in errors.
func name(tables []LevelTable, i int) string {
	if n := tables[i].Name; n != "" {
		return wire.Printable(n)
	}
	return fmt.Sprint("table ", i)
}

// Key returns the entry's key. It is valid until the next move, and must not be
// changed.
func (l *LevelIter) Key() []byte {
	if l.at != atEntry {
		return nil
	}
	return l.key
}

// Value returns the entry's value. It is valid until the next move, and must not be
// changed.
func (l *LevelIter) Value() []byte {
	if l.at != atEntry {
		return nil
	}
	return l.it.Value()
}

// First moves to the first entry.
func (l *LevelIter) First() bool {
	return l.depart() && l.enter(0) && l.forward(l.it.First())
}

// Last moves to the last entry.
func (l *LevelIter) Last() bool {
	return l.depart() && l.enter(len(l.tables)-1) && l.backward(l.it.Last())
}

// SeekGE moves to the first entry whose key is ≥ key, which may be a part of Key. No
// other tables are opened than the one whose range has key or comes next, and those
// behind it, if it has no such entry.
func (l *LevelIter) SeekGE(key []byte) bool {
	i := sort.Search(len(l.tables), func(i int) bool { return l.order.compare(l.tables[i].Largest, key) >= 0 })
	key = l.keep(i, key)
	return l.depart() && l.enter(i) && l.forward(l.it.SeekGE(key))
}

// SeekLT moves to the last entry whose key is < key, which may be a part of Key.
func (l *LevelIter) SeekLT(key []byte) bool {
	i := sort.Search(len(l.tables), func(i int) bool { return l.order.compare(l.tables[i].Smallest, key) >= 0 }) - 1
	key = l.keep(i, key)
	return l.depart() && l.enter(i) && l.backward(l.it.SeekLT(key))
}

// keep returns key in memory that survives entering table i.
func (l *LevelIter) keep(i int, key []byte) []byte {
	if l.it == nil || l.i == i {
		return key
	}
	l.target = append(l.target[:0], key...)
	return l.target
}

// Next moves to the next entry, from before the first one to the first one, and from
// the last one to after it.
func (l *LevelIter) Next() bool {
	switch l.at {
	case atEntry:
		l.at = lost // until the move is made
		if l.it.Next() {
			l.key = l.it.Key()
			if l.order.compare(l.key, l.tables[l.i].Largest) <= 0 { // and ≥ Smallest, as the one before it
				return l.arrive()
			}
		}
		return l.forward(l.it.Valid())
	case beforeFirst:
		return l.First()
	}
	return false
}

// Prev moves to the entry before, from after the last one to the last one, and from
// the first one to before it.
func (l *LevelIter) Prev() bool {
	switch l.at {
	case atEntry:
		l.at = lost
		return l.backward(l.it.Prev())
	case afterLast:
		return l.Last()
	}
	return false
}

// forward ends a move that goes up: found says whether it ended at an entry of the
// open table. If not, the entry is the first one of the tables to come.
func (l *LevelIter) forward(found bool) bool {
	for !found {
		if err := l.it.Error(); err != nil {
			return l.fail(err)
		}
		if !l.enter(l.i + 1) {
			return false
		}
		found = l.it.First()
	}
	return l.show()
}

// backward ends a move that goes down, as forward does one that goes up.
func (l *LevelIter) backward(found bool) bool {
	for !found {
		if err := l.it.Error(); err != nil {
			return l.fail(err)
		}
		if !l.enter(l.i - 1) {
			return false
		}
		found = l.it.Last()
	}
	return l.show()
}

// show ends a move at the open table's entry.
func (l *LevelIter) show() bool {
	t := &l.tables[l.i]
	l.key = l.it.Key()
	if l.order.compare(l.key, t.Smallest) < 0 || l.order.compare(l.key, t.Largest) > 0 {
		return l.fail(fmt.Errorf("%w: %s has key %s, want its keys in the range it was listed with, %s", ErrCorrupt, name(l.tables, l.i), wire.Quote(l.key), t.keys()))
	}
	return l.arrive()
}

// enter makes table i the open one. It reports false for a table that is not there,
// whose side it moves to, and for one that cannot be opened.
func (l *LevelIter) enter(i int) bool {
	if l.it != nil && i == l.i {
		return true
	}
	if err := l.closeTable(); err != nil {
		return l.fail(err)
	}
	switch {
	case i < 0:
		return l.leave(beforeFirst)
	case i >= len(l.tables):
		return l.leave(afterLast)
	}
	it, err := l.open(i)
	if err != nil {
		return l.fail(err)
	}
	l.i, l.it = i, it
	return true
}

// closeTable closes the open table, if there is one.
func (l *LevelIter) closeTable() error {
	it := l.it
	if it == nil {
		return nil
	}
	l.it, l.key = nil, nil
	return closeIterator(it)
}

// Close closes the open table and returns Error, joined with what went wrong in
// closing. Every move is ErrClosed from then on.
func (l *LevelIter) Close() error {
	err := l.Error()
	if e := l.closeTable(); e != nil {
		err = errors.Join(err, e)
	}
	*l = LevelIter{place: closedPlace}
	return err
}
