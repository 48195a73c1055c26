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

// MayContain reports whether the table may have key. It asks the filters and the index alone, and
// reads nothing, except when a filter of a table from Open denies a key for the first time: see Open.
// False is certain: Get and Find then return ErrNotFound. True is a guess that is wrong at the
// filters' rate of false positives. Without a filter, or if FilterErr says that it is not used, true
// means only that key is ≤ the last separator. Some filters are used only if their policy is in
// ReaderOptions.TableFilterPolicies.
//
// The key is one for Get or Find. With an InternalComparer,
// MayContain(SearchKey(nil, user, MaxSequence)) asks for a user key.
//
// The filter of the whole table is asked first. Filters of data blocks want a search of the
// index, which is in memory. MayContain works also after Close. For a mapped file the answer is then
// true. For a table from Open, filters that have denied no key before Close deny none after it: call
// FilterErr before Close to have them checked. If the index cannot be read, the answer is true.
func (r *Reader) MayContain(key []byte) bool { return r.mayContain(key, nil) }

// mayContain is MayContain. k is the key with its hash, if many tables are asked for it.
func (r *Reader) mayContain(key []byte, k *HashedKey) bool {
	if m := r.o.Metrics; m != nil {
		m.Lookups.Add(1)
	}
	t, err := r.table()
	if err != nil {
		return true
	}
	mayContain, err := t.askFilters(key, k)
	return err != nil || mayContain
}

// askFilters returns whether the filters and the index say that the table may have key.
func (t *openTable) askFilters(key []byte, k *HashedKey) (mayContain bool, err error) {
	defer t.mapped.leave(t.mapped.enter(), &err)
	if k != nil && t.denies(k) {
		return false, nil
	}
	filterKey := filterKeyOf(t.o.FilterKey, key)
	if mayContain, _ := t.mayContain(wholeTable, filterKey); !mayContain {
		return false, nil
	}
	if t.hidden != nil || t.searchable() != nil {
		return true, nil
	}
	i, err := t.index.search(key)
	if err != nil || i == t.index.len() {
		return false, err
	}
	mayContain, _ = t.mayContain(i, filterKey)
	if next := i + 1; !mayContain && next < t.index.len() && t.nextMayHave(i, filterKey) {
		mayContain, _ = t.mayContain(next, filterKey)
	}
	return mayContain, nil
}

// openFilterOnly finds out whether a table without data blocks has a filter only. Its
// properties say so, and then it is damage if there is none. If they are damaged and there is
// a filter of the whole table, keys may be in that. The properties are read into b.
func (t *openTable) openFilterOnly(m metaindex, b *buffers) error {
	if t.index.len() > 0 {
		return nil
	}
	p, err := t.readProperties(m, b)
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
		return t.corrupt(MetaindexBlock, t.footer.metaindex, "no filter of the table, but the properties say that a filter of %d keys is all it has", p.FilterEntries)
	case p.FilterOnly && p.FilterEntries > 0:
		t.filterOnly, t.hidden = true, ErrFilterOnly
	default:
		t.filterOnly = p.FilterOnly
	}
	return nil
}
