package table

import (
	"bytes"
)

// Find returns the first entry whose key is not below key, if FilterKey makes the
// two keys alike, and else ErrNotFound. The filter is asked first, as Get does: but
// for what FilterKey makes of key, so that it need not be known whole.
//
// It is how a database's table is asked for a version of a key: with
// InternalComparer, FilterKey: InternalFilterKey and key by [SeekKey], it finds the
// newest version of the user's key that the snapshot sees, or its tombstone.
//
// Keys that FilterKey makes alike must lie together in the order of the table, as
// those do that have a prefix in common. Those that it returns nil for count as alike
// too. So the entry can be one of another key, unless FilterKey makes of keys what is
// sought, as InternalFilterKey does: compare. Without FilterKey, Find finds what Get
// does.
//
// Key and value are the caller's to read, as Get's value is.
func (r *Reader) Find(key []byte) (k, v []byte, err error) {
	if r.closed.Load() {
		return nil, nil, ErrClosed
	}
	if err := r.searchable(); err != nil {
		return nil, nil, err
	}
	if m := r.o.Metrics; m != nil {
		m.Lookups.Add(1)
	}
	filterKey := filterKeyOf(r.o.FilterKey, key)
	mayContain, filterChecked := r.tableMayContain(filterKey)
	if !mayContain {
		return nil, nil, ErrNotFound
	}
	first := r.index.search(key)
	for i := first; i < r.index.len(); i++ {
		memory := dataKeyBudget.of(r.footerOffset)
		if i > first {
			memory = 0 // the block's first key is the answer, and shares nothing
		}
		k, v, found, err := r.findInBlock(i, key, filterKey, filterChecked, memory)
		if err != nil || found {
			return k, v, err
		}
		// All keys of the block that are ≥ key have another filter key. The next block can
		// have one with this filter key only if the separator between them has it.
		if !r.sameFilterKey(r.index.separator(i), filterKey) {
			break
		}
	}
	return nil, nil, ErrNotFound
}

// sameFilterKey reports whether FilterKey returns filterKey for key.
func (r *Reader) sameFilterKey(key, filterKey []byte) bool {
	if r.o.FilterKey == nil {
		return r.index.order.Compare(key, filterKey) == 0
	}
	key = filterKeyOf(r.o.FilterKey, key)
	return (key == nil) == (filterKey == nil) && bytes.Equal(key, filterKey)
}

// findInBlock returns data block i's first entry whose key is ≥ key, if it has the filter
// key. It is not there if the block's filter excludes the filter key.
func (r *Reader) findInBlock(i int, key, filterKey []byte, filterChecked bool, memory int) (k, v []byte, found bool, err error) {
	mayContain, blockChecked := r.blockMayContain(i, filterKey)
	if !mayContain {
		return nil, nil, false, nil
	}
	var d dataBlock
	defer d.release()
	if err := d.openForLookup(r, i); err != nil {
		return nil, nil, false, err
	}
	if k, v, found, err = d.seekGE(key, memory); err != nil {
		return nil, nil, false, err
	}
	found = found && r.sameFilterKey(k, filterKey)
	r.looked(&d, found, filterChecked || blockChecked)
	if !found {
		return nil, nil, false, nil
	}
	k, v = d.keepEntry(k, v)
	return k, v, true, nil
}
