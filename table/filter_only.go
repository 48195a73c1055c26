package table

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/internal/wire"
)

// filterOnlyName is the name of the property that marks a table with a filter and no entries.
const filterOnlyName = "sievetable.filter.only"

// errFilterOnlyOptions is the error for options of a Writer that FilterOnly excludes.
var errFilterOnlyOptions = errors.New("table: FilterOnly wants a TableFilterPolicy, and no FilterPolicy: there are no data blocks")

// appendToFilterOnly adds a key to the filter, and nothing else.
func (w *Writer) appendToFilterOnly(key, value []byte) error {
	if len(value) > 0 {
		return fmt.Errorf("table: value of %d bytes of key %s, want none: FilterOnly keeps no values", len(value), wire.Quote(key))
	}
	first := w.entries == 0
	if !first && w.o.Comparer.Compare(w.lastKey, key) >= 0 {
		return fmt.Errorf("%w: %s after %s", ErrOrder, wire.Quote(key), wire.Quote(w.lastKey))
	}
	filterKey := filterKeyOf(w.o.FilterKey, key)
	if filterKey == nil {
		return fmt.Errorf("table: key %s has no filter key, and FilterOnly keeps nothing else", wire.Quote(key))
	}
	// Not for another version of the key.
	if first || !bytes.Equal(filterKey, filterKeyOf(w.o.FilterKey, w.lastKey)) {
		w.addToFilter(key)
	}
	w.lastKey = append(w.lastKey[:0], key...)
	w.entries++
	if w.never != nil {
		return w.never.pass(key)
	}
	return nil
}

// FilterOnly reports whether the table has a filter of its keys, and neither keys nor values:
// see WriterOptions.FilterOnly. MayContain is then the only lookup that can answer "yes". If the
// table cannot be opened, or is a mapped file that is closed, FilterOnly returns false.
func (r *Reader) FilterOnly() bool {
	t, err := r.table()
	return err == nil && t.filterOnly
}

// openFilterOnly finds out whether a table without data blocks has a filter only. Its
// properties say so, and then it is damage if there is none. If they are damaged and there is
// a filter of the whole table, keys may be in that. The properties are read into b.
func (t *openTable) openFilterOnly(m tablefile.Metaindex, b *tablefile.Scratch) error {
	if t.file.Index.Len() > 0 {
		return nil
	}
	p, err := t.meta().readProperties(m, b)
	_, hasFilter := tableFilters.first(m)
	switch {
	case errors.Is(err, ErrNotFound):
	case errors.Is(err, ErrCorrupt):
		if hasFilter {
			t.hidden = err
		}
	case err != nil:
		return err
	case p.FilterOnly && p.FilterEntries > 0 && !hasFilter:
		return t.file.Corrupt(tablefile.MetaindexBlock, t.file.Footer.Metaindex, "no filter of the table, but the properties say that a filter of %d keys is all it has", p.FilterEntries)
	case p.FilterOnly && p.FilterEntries > 0:
		t.filterOnly, t.hidden = true, ErrFilterOnly
	default:
		t.filterOnly = p.FilterOnly
	}
	return nil
}
