package goleveldb

import (
	"bytes"
	"errors"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// goleveldb's Recover rewrites corrupt tables with the comparer and the filter for user keys instead of internal
// keys. So the separators in the index of such a table are not in the order of internal keys, and its filters
// contain whole internal keys. The functions in this file read such tables. When the engine compacts one, it writes
// it correctly.

// reorder returns a Reader for a copy of the table in memory, in key order. reason is the error of opening the table
// itself. reorder returns it if the keys are out of order too, or if the copy would take more than 64 MiB plus 32
// times the file's size: keys that share bytes can be far longer than the file.
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
	o.Cache = nil // its blocks have other offsets
	return table.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), &o)
}

// errTooLarge is the error for a copy that exceeds its limit.
var errTooLarge = errors.New(prefix + "the copy of a table takes too much memory")

// copyEntries appends the entries of it to w. The blocks in the file, and the separators in w's memory, may together
// take about limit bytes.
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

// rulesOutOwnKeys reports whether the table's filters rule out any of its first keys.
func (v *view) rulesOutOwnKeys(t *table.Reader) bool {
	filters := t.Filters()
	if filters.Blocks == nil {
		return false
	}
	it := t.NewIter(&table.IterOptions{DontFillCache: true})
	defer it.Close() // lookups return its error, since they read the same block
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
