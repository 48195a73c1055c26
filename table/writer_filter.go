package table

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// startFilters starts the filters that the options name.
func (w *Writer) startFilters() error {
	if p := w.o.FilterPolicy; p != nil {
		var err error
		if w.blockFilter, err = filter.NewBlockWriter(p, w.o.FilterBaseLg); err != nil {
			return err
		}
	}
	if p := w.o.TableFilterPolicy; p != nil {
		w.tableFilter = p.NewTableGenerator()
	}
	if w.tableFilter == nil && (w.o.FilterOnly || w.o.Never != nil) {
		return fmt.Errorf("table: filter policy %q returns no TableGenerator, which FilterOnly and Never need",
			w.o.TableFilterPolicy.Name())
	}
	if w.o.Never != nil {
		w.never = &neverList{o: &w.o}
	}
	return nil
}

// addToFilters adds a filter key to the filters, unless it is nil, and its prefix before it.
func (w *Writer) addToFilters(filterKey []byte) {
	if filterKey == nil {
		return
	}
	if w.o.FilterPrefix != nil {
		w.addPrefix(filterKey)
	}
	if w.tableFilter != nil {
		w.tableFilter.Add(filterKey)
		w.properties.FilterEntries++
	}
	switch {
	case w.blockFilter == nil:
	case w.queue != nil: // the block's offset, which the filter needs first, is not known yet
		w.queue.filling.addFilterKey(w.blockFilter, filterKey, false)
	default:
		w.blockFilter.Add(filterKey)
	}
}

// addPrefix adds the prefix of a filter key to the filters: to the table filter unless the previous key has the same
// prefix, and to the block filter once for each block.
func (w *Writer) addPrefix(filterKey []byte) {
	prefix := prefixOf(w.o.FilterPrefix, filterKey)
	if prefix == nil {
		return
	}
	seenBefore := bytes.Equal(prefix, w.prefix)
	if w.tableFilter != nil && !seenBefore {
		w.tableFilter.Add(prefix)
		w.properties.FilterEntries++
	}
	switch {
	case w.blockFilter == nil || seenBefore && w.prefixInBlock:
	case w.queue != nil:
		w.queue.filling.addFilterKey(w.blockFilter, prefix, true)
	default:
		w.prefixHash = w.blockFilter.AppendHash(w.prefixHash[:0], prefix)
		w.blockFilter.AddPrefixHash(w.prefixHash)
	}
	w.prefix, w.prefixInBlock = append(w.prefix[:0], prefix...), true
}

// writeBlockFilter writes the filter block, if there is a policy.
func (w *Writer) writeBlockFilter() error {
	if w.blockFilter == nil {
		return nil
	}
	contents, err := w.blockFilter.Finish()
	if err != nil {
		return err
	}
	return w.writeFilter(tablefile.FilterBlock, format.FilterPrefix, w.o.FilterPolicy, contents)
}

// writeTableFilter writes the table filter, if it has keys, and finds its exceptions.
func (w *Writer) writeTableFilter() (err error) {
	if w.properties.FilterEntries == 0 {
		if w.never != nil && w.properties.Entries > 0 {
			return errors.New("table: Never is set, but no key of the table has a filter key, so there is no filter")
		}
		return nil
	}
	contents := w.readyFilter
	if contents == nil {
		if contents, err = w.tableFilter.Generate(); err != nil {
			return fmt.Errorf("table: filter policy %q: %w", w.o.TableFilterPolicy.Name(), err)
		}
	}
	if p := byPage(w.o.TableFilterPolicy); p != nil {
		w.pages = uint64(max(0, len(contents)-p.PagedTail()))
	}
	w.filterSize = int64(len(contents))
	if w.never == nil {
		w.filterBits = filterBits(w.o.TableFilterPolicy, contents)
	} else if err := w.never.findExceptions(contents); err != nil {
		return err
	}
	return w.writeFilter(tablefile.TableFilterBlock, format.TableFilterPrefix, w.o.TableFilterPolicy, contents)
}

func (w *Writer) writeFilter(kind layout.BlockKind, prefix string, p namedPolicy, contents []byte) error {
	if len(contents) == 0 {
		return fmt.Errorf("table: policy %q wrote a filter of no bytes", p.Name())
	}
	w.properties.FilterSize += uint64(len(contents))
	names := filterNames(p)
	for i, name := range names {
		names[i] = prefix + name
	}
	return w.writeMeta(kind, contents, names...)
}

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
// contents until Close. It cannot check that no key of Never is in the filter's set: lookups would report it absent.
func (w *Writer) SetTableFilter(contents []byte, keys uint64) error {
	if err := w.usable(); err != nil {
		return err
	}
	w.err = errPanicked // if the policy panics: Close would write an empty filter
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
