package source

import (
	"errors"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// Filters are the filters of a table that lookups ask.
type Filters struct {
	table.LayoutFilters

	Err           error // why a filter is not in use
	UnknownPolicy bool  // Err is that there is no policy for it
}

func readFilters(l *table.Layout) Filters {
	var f Filters
	f.LayoutFilters, f.Err = l.Filters()
	f.UnknownPolicy = f.Err != nil && !errors.Is(f.Err, table.ErrCorrupt)
	return f
}

// Reason says why filters are not in use.
func (f Filters) Reason() string {
	reasons := text.Lines(f.Err)
	for i, reason := range reasons {
		reasons[i] = strings.TrimPrefix(reason, "table: ")
	}
	return strings.Join(reasons, "; ")
}

// Contains reports whether key may be in the data block at offset.
func (f Filters) Contains(offset uint64, key []byte) bool {
	return (f.Table == nil || f.Table.Contains(key)) && (f.Blocks == nil || f.Blocks.Contains(offset, key))
}

// None reports whether there is no filter to ask.
func (f Filters) None() bool { return f.Blocks == nil && f.Table == nil }
