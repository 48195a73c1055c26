package source

import (
	"errors"
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
