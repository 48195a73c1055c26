package source

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/sievetable/sievetable/table"
)

// maxOpenTables is how many tables of a directory stay open once they are.
const maxOpenTables = 16

// A Table is one of a Source's.
type Table struct {
	TableFile
	age                 int    // the lower, the newer
	internalKeys, empty bool   // has internal keys, or none
	orderUnknown        bool   // its order is not known
	smallest, largest   []byte // its first and its last key, as stored. nil: not known
	file                *File  // if it stays open
}

// inRange reports whether a user's key is in the table's range.
func (s *Source) inRange(t *Table, user []byte) bool {
	return t.smallest == nil ||
		s.Order.Compare(s.userKey(t.smallest), user) <= 0 && s.Order.Compare(user, s.userKey(t.largest)) <= 0
}

// userKey is the user's part of a key as stored.
func (s *Source) userKey(key []byte) []byte {
	if s.Internal {
		return table.InternalFilterKey(key)
	}
	return key
}

// open opens a table, which release is to be called for.
func (s *Source) open(t *Table) (*File, error) {
	if t.file != nil {
		return t.file, nil
	}
	f, err := Open(t.Path, t.Options(s.o))
	if err != nil {
		return nil, err
	}
	if f.FilterUnusable {
		s.note("the filter of %s is not used, because it excludes keys that the table has", f.Path)
	}
	if f.OrderNote != "" && !(s.Dir && s.Order == table.AnyOrder) {
		s.note("%s: %s", f.Path, f.OrderNote)
	}
	if f.Rewritten {
		s.note("%s: goleveldb's recovery wrote its internal keys in bytewise order: goleveldb's iterators find all of them, but its Get does not", f.Path)
	}
	if s.needsSorting(f) {
		if err := f.sortAgain(cmp.Or(s.Order, f.Order)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if s.openTables < maxOpenTables {
		s.openTables++
		t.file = f
	}
	return f, nil
}

// needsSorting reports whether a table is in another order than its database, and so cannot
// be searched or gone through with the others. What is done with one table is about the file
// as it is.
func (s *Source) needsSorting(f *File) bool {
	if s.o.OneTable {
		return false
	}
	other := s.Dir && s.o.Order.comparer != nil && s.Order != table.AnyOrder && f.Order != s.Order
	return f.Rewritten || other && (s.o.ScanOnly || f.Order == table.AnyOrder)
}

// release closes a table, unless it stays open.
func (s *Source) release(t *Table, f *File) error {
	if t.file == f {
		return nil
	}
	return f.Close()
}

// inspect finds out what the MANIFEST does not say of a table: its range, and what its keys are.
func (s *Source) inspect(t *Table) error {
	f, err := s.open(t)
	if err != nil {
		return err
	}
	t.internalKeys, t.empty, t.orderUnknown = f.Internal, f.Empty, f.Order == table.AnyOrder
	if f.Order != s.Order { // its range is not in the order of the others
		return s.release(t, f)
	}
	it := f.Reader.NewIter(&table.IterOptions{NoFill: true})
	if it.First() {
		t.smallest = bytes.Clone(it.Key())
	}
	if it.Last() {
		t.largest = bytes.Clone(it.Key())
	}
	if it.Close() != nil || t.smallest == nil || t.largest == nil {
		t.smallest, t.largest = nil, nil // damaged, which reading it tells, or empty
	}
	return s.release(t, f)
}
