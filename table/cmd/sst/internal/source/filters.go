package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// Filters are the filters of a table that lookups check.
type Filters struct {
	table.Filters

	Err           error // why a filter is not used
	UnknownPolicy bool  // Err says that the filter policy is unknown
}

// filtersOf returns the filters of a Reader, or reads them if it has none.
func filtersOf(r *table.Reader, l *table.Layout, o Options) (f Filters) {
	if r == nil || o.readsNoFilter() {
		f.Filters, f.Err = l.Filters()
	} else {
		f.Filters, f.Err = r.Filters(), r.FilterErr()
	}
	f.UnknownPolicy = f.Err != nil && !errors.Is(f.Err, table.ErrCorrupt)
	return f
}

// readsNoFilter reports whether Readers do without filters.
func (o Options) readsNoFilter() bool { return o.ScanOnly && !o.AsksPrefix }

// Reason formats Err.
func (f Filters) Reason() string {
	reasons := text.Lines(f.Err)
	for i, reason := range reasons {
		reasons[i] = strings.TrimPrefix(reason, "table: ")
	}
	return strings.Join(reasons, "; ")
}

// Contains reports whether the data block at offset may have the key.
func (f Filters) Contains(offset uint64, key []byte) bool {
	return (f.Table == nil || f.Table.Contains(key)) && (f.Blocks == nil || f.Blocks.Contains(offset, key))
}

// None reports whether there is no filter to check.
func (f Filters) None() bool { return f.Blocks == nil && f.Table == nil }

// filterOnlyError is table.ErrFilterOnly in the words of sst.
type filterOnlyError struct{ path string }

func (e filterOnlyError) Error() string {
	return fmt.Sprintf("there is a filter of the keys only, and no entries: to ask the filter, use sst get %s KEY", text.ShellPath(e.path))
}

func (filterOnlyError) Unwrap() error { return table.ErrFilterOnly }

// MayContain asks the filters of the table.
func (f *File) MayContain(key []byte) bool { return f.Reader.MayContain(f.seekKey(key)) }

// HiddenKeys returns an error if there may be keys though there are no data blocks: in a
// filter, or because of damage.
func (f *File) HiddenKeys() error {
	if !f.Empty {
		return nil
	}
	if _, err := f.Reader.FirstKey(); !errors.Is(err, table.ErrNotFound) {
		return f.Wrap(err)
	}
	return nil
}

// HasNoEntries reports whether a file is an empty one, or a table without data blocks.
func HasNoEntries(path string) bool {
	if IsEmpty(path) {
		return true
	}
	f, err := OpenDamaged(path, Options{OneTable: true})
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Layout != nil && f.Empty
}

// FilterOnly reports whether the source is a table with a filter only, or a set of such tables.
// A set is one if its first table is.
func (s *Source) FilterOnly() bool {
	if s.isLog || s.Dir && !s.isSet() {
		return false
	}
	for _, t := range s.Tables {
		if t.Removals {
			continue // which have keys
		}
		if f, err := s.open(t); err == nil {
			only := f.Reader.FilterOnly()
			return s.release(t, f) == nil && only
		}
	}
	return false
}

// MayContain asks the filters of a single table, or of the table of a set that may have the key. Removals are asked
// exactly.
func (s *Source) MayContain(key []byte) (may bool, err error) {
	ask := func(t *Table, f *File) (Entry, bool, error) {
		if t.Removals {
			return f.Get(key)
		}
		return Entry{}, f.MayContain(key), nil
	}
	for _, t := range s.candidates(key) {
		if _, has, err := s.getFromTable(t, ask); has || err != nil {
			return !t.Removals, err
		}
	}
	return false, nil
}
