package dbfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
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
func (f *File) MayContain(key []byte) bool { return f.Reader.MayContain(f.SeekKey(key)) }

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
	f, err := OpenDamaged(path, Options{})
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Layout != nil && f.Empty
}
