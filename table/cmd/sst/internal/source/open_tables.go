package source

import (
	"slices"

	"github.com/sievetable/sievetable/internal/regular"
)

// How many tables of a directory stay open. Lookups, which come to any of them, keep more.
const (
	maxOpenTables  = 16
	maxOpenMemory  = 256 << 20 // of their indexes and filters, for lookups
	memoryPerBlock = 64        // of an entry of an index, besides its separator
)

// keepOpen lets a table stay open, if few are. Of a set, or for lookups, it closes those that were
// opened first, unless they are being scanned.
func (s *Source) keepOpen(t *Table, f *File) error {
	for s.isFull(f) {
		i := slices.IndexFunc(s.openTables, func(t *Table) bool { return t.scans == 0 && t.file.sorted == nil })
		if !s.isSet() && !s.o.Lookups || i < 0 {
			return nil
		}
		first := s.openTables[i]
		s.openTables = slices.Delete(s.openTables, i, i+1)
		s.openMemory -= first.file.memory()
		err := first.file.Close()
		if first.file = nil; err != nil {
			return err
		}
	}
	s.openTables, t.file = append(s.openTables, t), f
	s.openMemory += f.memory()
	return nil
}

// isFull reports whether the table f can stay open only in place of another one.
func (s *Source) isFull(f *File) bool {
	most := maxOpenTables
	if s.o.Lookups {
		most = max(most, regular.MaxOpenFiles())
	}
	return len(s.openTables) >= most || len(s.openTables) >= maxOpenTables && s.openMemory+f.memory() > maxOpenMemory
}

// memory returns about how much memory an open table takes.
func (f *File) memory() int64 {
	if f.Layout == nil {
		return 0
	}
	n := f.Layout.Index.Length + f.filters.BlocksEntry.Length + f.filters.TableEntry.Length
	return 2*int64(n) + memoryPerBlock*int64(len(f.Layout.Data))
}
