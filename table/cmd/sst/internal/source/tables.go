package source

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A Table is a table of a Source.
type Table struct {
	dbdir.File
	age                 int          // the smaller, the newer
	internalKeys, empty bool         // the keys are internal keys; the table has no data blocks
	inDatabase          bool         // see dbfile.File.InDatabase
	skip                bool         // the table has no keys, not even in a filter
	orderUnknown        bool         // the order of its keys is unknown
	smallest, largest   []byte       // first and last stored key; nil: unknown
	file                *dbfile.File // the open table, if it stays open
	form                *dbfile.Form // detected when the table was first opened
	memory              int64        // approximate memory use of the open table, in bytes
	scans               int          // number of open iterators

	damage     error              // why it cannot be opened
	replaced   bool               // it is not the table that the MANIFEST lists, whose keys are a Loss
	disordered bool               // keys are out of order in some data blocks, each of which is a Loss
	lostBlocks map[int64]KeyRange // data blocks that are a Loss, by offset
}

// isSame reports whether a set's manifests list t and o as the same table.
func (t *Table) isSame(o *Table) bool {
	return t.Path == o.Path && t.Line != nil && o.Line != nil && t.Line.SHA256 == o.Line.SHA256
}

// removes turns e into a deletion if t lists removed keys.
func (t *Table) removes(e *Entry) {
	if t.Removals {
		e.Kind, e.Value = internalkey.Delete, nil
	}
}

// open opens a table. The caller must call release afterwards. If the table is damaged, later calls return the same
// error.
func (s *Source) open(t *Table) (*dbfile.File, error) {
	if t.file != nil {
		return t.file, nil
	}
	if t.damage != nil {
		return nil, t.damage
	}
	f, err := s.openChecked(t)
	if s.isPassedOver(err) && s.o.Salvage {
		f, err = s.openSalvaged(t, err)
	}
	if errors.Is(err, table.ErrCorrupt) {
		t.damage = err
	}
	if err != nil {
		return nil, err
	}
	if f.FilterUnusable {
		s.note("the filter of %s is not used: it excludes keys in the table", f.Path)
	}
	if f.OrderNote != "" && !(s.Dir && s.Order == table.AnyOrder) {
		s.note("%s: %s", f.Path, f.OrderNote)
	}
	if f.Rewritten {
		s.note("%s: goleveldb's recovery wrote its internal keys in bytewise order: goleveldb's iterators find all of them, but its Get does not", f.Path)
	}
	isOther := s.Dir && s.o.Order.Comparer != nil && s.Order != table.AnyOrder && f.Order != s.Order // than the database's
	needsSorting := f.Rewritten || isOther && (s.o.ScanOnly || f.Order == table.AnyOrder)
	if t.disordered || needsSorting && !s.o.OneTable { // for OneTable, the file is used as it is
		if err := s.sortAgain(t, f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, s.keepOpen(t, f)
}

// sortAgain sorts a table whose keys are not in the expected order.
func (s *Source) sortAgain(t *Table, f *dbfile.File) error {
	if t.disordered {
		if err := f.ReadInAnyOrder(); err != nil {
			return err
		}
	}
	return f.ReadSorted(s.pairs(t, f), dbfile.Stored{Internal: f.Internal, Order: cmp.Or(s.Order, f.Order)}, s.loseRepeated(t, f), s.o.TempDir)
}

// openChecked opens a table, and compares its size and range with the MANIFEST.
func (s *Source) openChecked(t *Table) (*dbfile.File, error) {
	o := s.o
	o.Form = t.form
	f, err := t.Open(o.ListOptions)
	if replaced := s.checkReplaced(); replaced != nil { // the file may be in the other directory
		if err == nil {
			f.Close() // it was only read
		}
		return nil, replaced
	}
	if err == nil {
		detected := f.Form // a copy, since ReadSorted changes it
		t.form, t.inDatabase = &detected, f.InDatabase()
		err = s.checkSize(t, f)
	}
	if err != nil || t.Meta == nil || t.smallest == nil || f.Order != s.Order || s.Order == table.AnyOrder || f.Rewritten {
		return f, err // also if ranges cannot be compared
	}
	from, to, err := f.CheckRange(t.smallest, t.largest)
	switch {
	case err == nil && !t.replaced && !s.sortsDisorder:
		return f, s.replace(t, f, f.CheckEnds(t.Meta))
	case err == nil || s.sortsDisorder:
		return f, nil
	case s.o.Salvage:
		err = fmt.Errorf("%w: %v", table.ErrOrder, err) // until SortDisordered has checked the table
	default: // an iterator over its level cannot show these keys
		t.smallest, t.largest = from, to
	}
	return nil, errors.Join(f.Wrap(err), f.Close())
}

// checkSize notes a table whose size differs from the MANIFEST, because a salvaged or another table replaced it.
// The file is read, but the listed table may have had more keys. With Options.Strict this is an error.
func (s *Source) checkSize(t *Table, f *dbfile.File) error {
	note, err := f.CheckSize(t.Meta)
	if note != "" {
		s.note("%s: %s", t.Path, note)
	}
	return s.replace(t, f, err)
}

// replace notes that a file is not the table that the MANIFEST lists. err is the reason; if it is nil, replace does
// nothing.
func (s *Source) replace(t *Table, f *dbfile.File, err error) error {
	if err == nil || t.replaced {
		return nil
	}
	if s.o.Strict {
		return errors.Join(f.Wrap(err), f.Close())
	}
	t.replaced = true
	s.lose(t, "replaced", s.keysOf(t), false, err)
	return nil
}

// release closes a table, unless it stays open.
func (s *Source) release(t *Table, f *dbfile.File) error {
	if t.file == f {
		return nil
	}
	return f.Close()
}

// inspect determines the range of a table, and whether it has internal keys. For a damaged table it relies on the
// MANIFEST.
func (s *Source) inspect(t *Table) error {
	f, err := s.open(t)
	if s.isPassedOver(err) {
		if t.empty = true; t.Meta != nil && s.o.InternalKeys != dbfile.No {
			s.trustManifest(t)
		}
		return nil
	}
	if err != nil {
		return err
	}
	t.learn(f)
	if f.Order == s.Order { // else its range would be in another order
		t.setEnds(f)
	}
	return s.release(t, f)
}

// learn sets the fields that describe the keys of an open table.
func (t *Table) learn(f *dbfile.File) {
	t.internalKeys, t.empty, t.skip, t.orderUnknown = f.Internal, f.Empty, f.Empty && f.HiddenKeys() == nil, f.Order == table.AnyOrder
}

// setEnds sets the range of a table to its first and last key. If it is damaged or empty, the range is unknown.
func (t *Table) setEnds(f *dbfile.File) {
	if t.smallest, t.largest = f.Ends(); t.smallest == nil || t.largest == nil {
		t.smallest, t.largest = nil, nil
	}
}

// trustManifest takes the range of a table from the MANIFEST, unless its ends are out of order.
func (s *Source) trustManifest(t *Table) {
	t.internalKeys = true
	keys := userKeys(t.Meta.Smallest, t.Meta.Largest)
	if s.Order != table.AnyOrder && s.Order.Compare(keys.From, keys.To) <= 0 {
		t.smallest, t.largest = t.Meta.Smallest, t.Meta.Largest
	}
}

// Limits for tables of a directory that stay open. Lookups, which reach any of them, exceed maxOpenTables while the
// indexes and filters fit into maxOpenMemory.
const (
	maxOpenTables = 16
	maxOpenMemory = 256 << 20
)

// keepOpen keeps a table open within these limits. In a set, or for lookups, it makes room by closing the tables
// that were opened first, unless they are being scanned.
func (s *Source) keepOpen(t *Table, f *dbfile.File) error {
	t.memory = 2 * f.Reader.MemorySize() // including the Layout
	for len(s.openTables) >= maxOpenTables && (!s.o.Lookups || s.openMemory+t.memory > maxOpenMemory) {
		i := slices.IndexFunc(s.openTables, func(t *Table) bool { return t.scans == 0 && !t.file.IsSorted() })
		if !s.isSet() && !s.o.Lookups || i < 0 {
			return nil
		}
		first := s.openTables[i]
		s.openTables = slices.Delete(s.openTables, i, i+1)
		s.openMemory -= first.memory
		err := first.file.Close()
		if first.file = nil; err != nil {
			return err
		}
	}
	s.openTables, t.file = append(s.openTables, t), f
	s.openMemory += t.memory
	return nil
}

// TableFilter returns the policy name of the table filter of the oldest table that can be opened, or "" if it has
// none. In a set, that table is in the base.
func (s *Source) TableFilter() (policy string) {
	for f := range s.readable(slices.Backward(s.Tables)) {
		return strings.TrimPrefix(f.Filters().TableEntry.Name, format.TableFilterPrefix)
	}
	return ""
}

// HasUserKeys reports whether there are keys, and all keys of tables that can be opened are user keys.
func (s *Source) HasUserKeys() bool {
	return !s.Internal && slices.ContainsFunc(s.Tables, func(t *Table) bool { return !t.empty })
}

// Files yields the tables of a database that can be opened. Each is open until the next one. If s is no database,
// Files yields nothing.
func (s *Source) Files() iter.Seq[*dbfile.File] {
	if !s.Dir || s.isSet() {
		return func(func(*dbfile.File) bool) {}
	}
	return s.readable(slices.All(s.Tables))
}

// readable yields the tables that can be opened. Errors are left to whoever reads the table.
func (s *Source) readable(tables iter.Seq2[int, *Table]) iter.Seq[*dbfile.File] {
	return func(yield func(*dbfile.File) bool) {
		for _, t := range tables {
			f, err := s.open(t)
			if err != nil {
				continue
			}
			more := yield(f)
			s.release(t, f) // it was only read
			if !more {
				return
			}
		}
	}
}
