package table

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/block"
)

// addToFilter adds the filter key of key to the filters.
func (w *Writer) addToFilter(key []byte) {
	if w.filter == nil && w.tableFilter == nil {
		return
	}
	if key = filterKeyOf(w.o.FilterKey, key); key == nil {
		return
	}
	if w.o.FilterPrefix != nil {
		w.addPrefix(key)
	}
	if w.tableFilter != nil {
		w.tableFilter.Add(key)
		w.tableFilterKeys++
	}
	switch {
	case w.filter == nil:
	case w.queue != nil: // the block's offset, which filter needs first, is not known yet
		w.queue.filling.addFilterKey(w.filter, key)
	default:
		w.filter.Add(key)
	}
}

// addPrefix adds the prefix of a filter key to the filters. The table filter has it from the key before,
// if that has the same prefix, and the filters of blocks take it once for each block.
func (w *Writer) addPrefix(filterKey []byte) {
	prefix := prefixOf(w.o.FilterPrefix, filterKey)
	if prefix == nil {
		return
	}
	again := bytes.Equal(prefix, w.prefix)
	if w.tableFilter != nil && !again {
		w.tableFilter.Add(prefix)
		w.tableFilterKeys++
	}
	if w.filter != nil && !(again && w.prefixInBlock) {
		if w.queue != nil {
			w.queue.filling.addFilterPrefix(w.filter, prefix)
		} else {
			w.prefixHash = w.filter.AppendHash(w.prefixHash[:0], prefix)
			w.filter.AddPrefixHash(w.prefixHash)
		}
	}
	w.prefix, w.prefixInBlock = append(w.prefix[:0], prefix...), true
}

// writeBlockFilter writes the filter block, if there is a policy.
func (w *Writer) writeBlockFilter(meta *block.Writer) error {
	if w.filter == nil {
		return nil
	}
	contents, err := w.filter.Finish()
	if err != nil {
		return err
	}
	return w.writeFilter(meta, blockFilters, w.o.FilterPolicy, contents)
}

// writeTableFilter writes the whole table's filter, if it has keys.
func (w *Writer) writeTableFilter(meta *block.Writer) (err error) {
	if w.tableFilterKeys == 0 {
		return w.checkNeverHasFilter()
	}
	contents := w.readyFilter
	if contents == nil {
		if contents, err = w.tableFilter.Generate(); err != nil {
			return fmt.Errorf("table: filter policy %q: %w", w.o.TableFilterPolicy.Name(), err)
		}
	}
	if w.never != nil {
		if err := w.never.findExceptions(contents); err != nil {
			return err
		}
	}
	return w.writeFilter(meta, tableFilters, w.o.TableFilterPolicy, contents)
}

// writeFilter writes a filter, and lists it in the metaindex.
func (w *Writer) writeFilter(meta *block.Writer, kind filterKind, p namedPolicy, contents []byte) error {
	if len(contents) == 0 {
		return fmt.Errorf("table: policy %q wrote a filter of no bytes", p.Name())
	}
	b, err := w.writeRaw(contents, BlockKind(kind.block))
	if err != nil {
		return err
	}
	w.filterSize += b.Length
	for _, name := range filterNames(p) {
		if err := w.list(meta, kind.prefix+name, b); err != nil {
			return err
		}
	}
	return nil
}
