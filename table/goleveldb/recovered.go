package goleveldb

import (
	"bytes"
	"errors"

	"github.com/sievetable/sievetable/table"
)

// goleveldb's Recover writes damaged tables anew, with the comparer and the filter of user keys in
// place of those for internal keys. So the separators in the index of such a table are not in the
// order of internal keys, and its filters hold whole internal keys. This file has what reads
// them. The engine writes such a table as it should be when it compacts it.

// reorder returns a Reader on a copy of the table in memory, in the order of its keys. reason is
// why it cannot be opened as it is; it is the error if the keys are not in order either.
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
	it := listed.NewIter(&table.IterOptions{NoFill: true})
	for err == nil && it.Next() {
		err = w.Append(it.Key(), it.Value())
	}
	if err = errors.Join(err, it.Close(), w.Close()); errors.Is(err, table.ErrOrder) {
		return nil, reason
	}
	if err != nil {
		return nil, err
	}
	o := v.options
	o.Cache = nil // of blocks at other offsets
	return table.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), &o)
}

// deniesItsKeys reports whether the table's filters do not have the first keys of the table.
func (v *view) deniesItsKeys(t *table.Reader) bool {
	filters := t.Filters()
	if filters.Blocks == nil {
		return false
	}
	it := t.NewIter(&table.IterOptions{NoFill: true})
	defer it.Close() // its error is that of lookups, which read the same block
	for n := 0; n < 10 && it.Next(); n++ {
		user := table.InternalFilterKey(it.Key())
		if user != nil && !filters.Blocks.Contains(it.Block().Offset, user) {
			return true
		}
	}
	return false
}
