package table

import (
	"bytes"
	"errors"
	"fmt"

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
	if w.readyFilter != nil {
		return errors.New("table: Append after SetTableFilter, want one of them")
	}
	// Not for another version of the key. The next call of FilterKey may reuse filterKey.
	if first || !bytes.Equal(filterKey, w.lastFilterKey) {
		w.lastFilterKey = append(w.lastFilterKey[:0], filterKey...)
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
