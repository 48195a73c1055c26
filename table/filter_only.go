package table

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
)

// appendFilterOnly adds a key to the table filter, and nothing else.
func (w *Writer) appendFilterOnly(key, value []byte) error {
	last, first := w.lastKey, w.properties.Entries == 0
	if !first && w.o.Comparer.Compare(last, key) >= 0 {
		return outOfOrder(key, last)
	}
	filterKey := filterKeyOf(w.o.FilterKey, key)
	switch {
	case len(value) > 0:
		return fmt.Errorf("table: value of %d bytes of key %s: FilterOnly keeps no values", len(value), format.Quote(key))
	case filterKey == nil:
		return fmt.Errorf("table: key %s has no filter key, and FilterOnly keeps nothing else", format.Quote(key))
	case w.readyFilter != nil:
		return errors.New("table: Append after SetTableFilter: call only one of them")
	case first || !bytes.Equal(filterKey, w.lastFilterKey): // not for another version of the key
		w.lastFilterKey = append(w.lastFilterKey[:0], filterKey...)
		w.addToFilters(filterKey)
	}
	w.lastKey = append(last[:0], key...)
	return nil
}

// SetTableFilter stores contents, a filter of TableFilterPolicy that was built elsewhere, such as a union of filters.
// Call it instead of Append, with FilterOnly. keys >= 1 is the number of keys and prefixes in it. The Writer keeps
// contents until Close.
func (w *Writer) SetTableFilter(contents []byte, keys uint64) error {
	if err := w.usable(); err != nil {
		return err
	}
	w.err = w.checkReadyFilter(contents, keys)
	if w.err == nil {
		w.readyFilter, w.properties.FilterEntries = contents, keys
	}
	return w.err
}

func (w *Writer) checkReadyFilter(contents []byte, keys uint64) error {
	if !w.o.FilterOnly || w.properties.Entries > 0 || keys == 0 {
		return errors.New("table: SetTableFilter needs FilterOnly, no Append, and a filter of at least 1 key")
	}
	if _, err := w.o.TableFilterPolicy.Open(contents); err != nil {
		return fmt.Errorf("table: filter policy %q: %w", w.o.TableFilterPolicy.Name(), err)
	}
	return nil
}

// FilterOnly reports whether the table has only a filter.
func (r *Reader) FilterOnly() bool {
	t, err := r.table()
	return err == nil && t.filterOnly
}
