package goleveldb

import (
	"bytes"
	"errors"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// goleveldb's Recover rewrites damaged tables, with the comparer and the filter of user keys in
// place of those for internal keys. So the separators in the index of such a table are not in the
// order of internal keys, and its filters hold whole internal keys. This file has what reads
// them. The engine writes such a table as it should be when it compacts it.

// reorder returns a Reader on a copy of the table in memory, in the order of its keys. reason is
// why it cannot be opened as it is. It is the error if the keys are not in order either, or if the
// copy would take over 64 MiB and 32 times the file: keys that share bytes can be far longer than it.
func (v *view) reorder(r *Reader, reason error) (*table.Reader, error) {
	listed, err := r.listed.open(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := table.NewWriter(&b, &table.WriterOptions{Comparer: v.options.Comparer})
	if err != nil {
		return nil, err
	}
	it := listed.NewIter(&table.IterOptions{DontFillCache: true})
	if err = errors.Join(copyEntries(w, it, 64<<20+32*r.size), it.Close()); err == nil {
		err = w.Close()
	}
	if errors.Is(err, table.ErrOrder) || errors.Is(err, errTooLarge) {
		return nil, reason
	}
	if err != nil {
		return nil, err
	}
	o := v.options
	o.Cache = nil // of blocks at other offsets
	return table.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), &o)
}

// errTooLarge is the error for a table that takes more than it may.
var errTooLarge = errors.New(prefix + "the copy of a table takes too much memory")

// copyEntries appends the entries of it to w. The blocks in the file, and their separators in the
// memory of w, may take about limit bytes.
func copyEntries(w *table.Writer, it *table.Iter, limit int64) error {
	blocks, separators := 0, int64(0)
	for it.Next() {
		if err := w.Append(it.Key(), it.Value()); err != nil {
			return err
		}
		if n := w.DataBlocks(); n > blocks {
			blocks, separators = n, separators+int64(len(it.Key()))
		}
		if int64(w.Size())+separators > limit {
			return errTooLarge
		}
	}
	return nil
}

// deniesItsKeys reports whether the table's filters do not have the first keys of the table.
func (v *view) deniesItsKeys(t *table.Reader) bool {
	filters := t.Filters()
	if filters.Blocks == nil {
		return false
	}
	it := t.NewIter(&table.IterOptions{DontFillCache: true})
	defer it.Close() // its error is that of lookups, which read the same block
	filterKey := v.options.FilterKey
	if filterKey == nil {
		filterKey = internalkey.UserKey
	}
	for n := 0; n < 10 && it.Next(); n++ {
		key := filterKey(it.Key())
		if key != nil && !filters.Blocks.Contains(it.Block().Offset, key) {
			return true
		}
	}
	return false
}
