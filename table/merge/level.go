package merge

import (
	"fmt"
	"sort"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
)

// A LevelTable is a table of a level with its key range, as in the MANIFEST.
type LevelTable struct {
	Name              string // for errors; may be ""
	Smallest, Largest []byte // Smallest <= key <= Largest for all keys
}

// A LevelIter is an [Iterator] over the tables of a level whose key ranges do not overlap: in LevelDB, all levels but
// level 0. At most one table is open at a time.
type LevelIter struct {
	iterState
	order  rowblock.Order
	tables []LevelTable
	open   func(i int) (Iterator, error)

	i       int      // the open table
	it      Iterator // over that table; nil if no table is open
	seekKey []byte   // a copy of the key to seek, which may be in the open table's memory
}

// NewLevelIter returns a LevelIter over tables in c's order, their Comparer: [table.InternalComparer] for a database,
// never [table.AnyOrder]. Tables out of order are an error. The slice must not change while it is in use.
//
// open(i) opens an Iterator over tables[i]. The LevelIter closes it before it opens the next one, at either end, and
// in Close. A key outside of its table's range fails the move with [table.ErrCorrupt].
//
// For a part of the level, pass the tables that overlap it, seek its start, and stop at its end, without an Upper
// bound.
func NewLevelIter(
	c table.Comparer, tables []LevelTable, open func(i int) (Iterator, error),
) (*LevelIter, error) {
	l := &LevelIter{order: rowblock.OrderOf(c), tables: tables, open: open}
	for i, t := range tables {
		if compare(&l.order, t.Smallest, t.Largest) > 0 {
			return nil, fmt.Errorf("merge: level: %s: its range %s is empty: Smallest > Largest",
				name(tables, i), t.keys())
		}
		if i > 0 && compare(&l.order, tables[i-1].Largest, t.Smallest) >= 0 {
			return nil, fmt.Errorf("merge: level: %s has keys %s, and %s before it %s: "+
				"ranges must be in order and not overlap; merge such tables with New",
				name(tables, i), t.keys(), name(tables, i-1), tables[i-1].keys())
		}
	}
	return l, nil
}

// keys returns the range, for errors.
func (t *LevelTable) keys() string {
	return format.Quote(t.Smallest) + " to " + format.Quote(t.Largest)
}

// name returns a name of table i, for errors.
func name(tables []LevelTable, i int) string {
	if n := tables[i].Name; n != "" {
		return format.Printable(n)
	}
	return fmt.Sprint("table ", i)
}

// Value returns the entry's value until the next move. Do not modify it.
func (l *LevelIter) Value() []byte {
	if l.at != atEntry {
		return nil
	}
	return l.it.Value()
}

// First moves to the first entry, and returns Valid.
func (l *LevelIter) First() bool {
	return l.startMove() && l.enter(0) && l.land(l.it.First(), 1)
}

// Last moves to the last entry, and returns Valid.
func (l *LevelIter) Last() bool {
	return l.startMove() && l.enter(len(l.tables)-1) && l.land(l.it.Last(), -1)
}

// SeekGE moves to the first entry >= key, and returns Valid.
func (l *LevelIter) SeekGE(key []byte) bool {
	i := sort.Search(len(l.tables), func(i int) bool {
		return compare(&l.order, l.tables[i].Largest, key) >= 0
	})
	l.seekKey = append(l.seekKey[:0], key...) // entering the table may overwrite key
	return l.startMove() && l.enter(i) && l.land(l.it.SeekGE(l.seekKey), 1)
}

// SeekLT moves to the last entry < key, and returns Valid.
func (l *LevelIter) SeekLT(key []byte) bool {
	i := sort.Search(len(l.tables), func(i int) bool {
		return compare(&l.order, l.tables[i].Smallest, key) >= 0
	}) - 1
	l.seekKey = append(l.seekKey[:0], key...) // entering the table may overwrite key
	return l.startMove() && l.enter(i) && l.land(l.it.SeekLT(l.seekKey), -1)
}

// Next moves to the next entry, and returns Valid.
func (l *LevelIter) Next() bool {
	switch l.at {
	case atEntry:
		l.at = failed // until the move ends
		return l.land(l.it.Next(), 1)
	case beforeFirst:
		return l.First()
	}
	return false
}

// Prev moves to the previous entry, and returns Valid.
func (l *LevelIter) Prev() bool {
	switch l.at {
	case atEntry:
		l.at = failed
		return l.land(l.it.Prev(), -1)
	case afterLast:
		return l.Last()
	}
	return false
}

// land ends a move towards greater keys, if step is 1, or towards smaller ones, if it is -1. If found is false, the move
// has run off the open table, and land moves to the nearest entry of the tables beyond it. An entry must be in the range
// of its table.
func (l *LevelIter) land(found bool, step int) bool {
	for !found {
		if err := l.it.Error(); err != nil {
			return l.fail(err)
		}
		if !l.enter(l.i + step) {
			return false
		}
		if step > 0 {
			found = l.it.First()
		} else {
			found = l.it.Last()
		}
	}
	t := &l.tables[l.i]
	l.key = l.it.Key()
	if compare(&l.order, l.key, t.Smallest) < 0 || compare(&l.order, l.key, t.Largest) > 0 {
		return l.fail(fmt.Errorf("%w: %s has key %s, outside of its range, %s",
			table.ErrCorrupt, name(l.tables, l.i), format.Quote(l.key), t.keys()))
	}
	return l.endAt(atEntry)
}

// enter opens table i, as a part of a move. If there is no table i, or if it cannot be
// opened, enter ends the move and returns false.
func (l *LevelIter) enter(i int) bool {
	if l.it != nil && i == l.i {
		return true
	}
	if err := l.closeTable(nil); err != nil {
		return l.fail(err)
	}
	switch {
	case i < 0:
		return l.endAt(beforeFirst)
	case i >= len(l.tables):
		return l.endAt(afterLast)
	}
	it, err := l.open(i)
	if err != nil {
		return l.fail(err)
	}
	l.i, l.it = i, it
	return true
}

// closeTable closes the open table, if there is one, and returns err joined with its error.
func (l *LevelIter) closeTable(err error) error {
	it := l.it
	if it == nil {
		return err
	}
	l.it, l.key = nil, nil
	return closeIterator(it, err)
}

// Close closes the open table's Iterator, and returns Error joined with its error.
func (l *LevelIter) Close() error {
	err := l.closeTable(l.Error())
	*l = LevelIter{iterState: closedState}
	return err
}
