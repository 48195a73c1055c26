package table

// Get returns the value of key, or ErrNotFound. The filter is asked first: what
// it rules out costs no data-block read.
//
// The value is the caller's to read, not to change, and stays valid forever. It
// has no capacity behind it. It may be a view of its data block: it then keeps
// the block in memory, which takes at most about four times as much as the value
// or, with a Cache, as much as a block.
func (r *Reader) Get(key []byte) ([]byte, error) {
	var d dataBlock
	defer d.release()
	value, err := r.lookup(&d, key)
	if err != nil {
		return nil, err
	}
	return d.keepValue(value), nil
}

// AppendGet appends the value of key to dst and returns the result. If there is
// an error, ErrNotFound among them, it returns dst as it was. It allocates
// nothing if dst has room and the block is in the Cache, or if there is none, takes
// at most 1 MiB, stored and decompressed (and, in an order that is not bytewise,
// no key of it 64 KiB).
func (r *Reader) AppendGet(dst, key []byte) ([]byte, error) {
	var d dataBlock
	defer d.release()
	value, err := r.lookup(&d, key)
	if err != nil {
		return dst, err
	}
	if len(dst) == 0 && cap(dst) < len(value) && d.buffers != nil {
		return d.keepValue(value), nil // without a copy, if it is a large one
	}
	return append(dst, value...), nil
}

// lookup returns the value of key, which is valid until d is released.
func (r *Reader) lookup(d *dataBlock, key []byte) ([]byte, error) {
	i, filterChecked, err := r.locate(key)
	if err != nil {
		return nil, err
	}
	if err := d.openForLookup(r, i); err != nil {
		return nil, err
	}
	value, found, err := d.get(key)
	if err != nil {
		return nil, err
	}
	r.looked(d, found, filterChecked)
	if !found {
		return nil, ErrNotFound
	}
	return value, nil
}

// looked ends a lookup in a data block: it admits the block to the cache, unless it was read
// only because a filter was wrong. That is no sign that it will be asked for again.
func (r *Reader) looked(d *dataBlock, found, filterChecked bool) {
	if found || !filterChecked {
		d.admit()
		return
	}
	if m := r.o.Metrics; m != nil {
		m.FilterFalsePositives.Add(1)
	}
}

// locate returns the only data block that can hold key, and whether a filter was
// checked, or ErrNotFound if index or filters rule the key out.
func (r *Reader) locate(key []byte) (i int, filterChecked bool, err error) {
	if r.closed.Load() {
		return 0, false, ErrClosed
	}
	if err := r.searchable(); err != nil {
		return 0, false, err
	}
	m := r.o.Metrics
	if m != nil {
		m.Lookups.Add(1)
	}
	filterKey := filterKeyOf(r.o.FilterKey, key)
	mayContain, filterChecked := r.tableMayContain(filterKey)
	if !mayContain {
		return 0, true, ErrNotFound
	}
	if i = r.index.search(key); i == r.index.len() {
		return 0, filterChecked, ErrNotFound
	}
	mayContain, blockChecked := r.blockMayContain(i, filterKey)
	if !mayContain {
		return 0, true, ErrNotFound
	}
	return i, filterChecked || blockChecked, nil
}

// tableMayContain checks the filter of the whole table, if there is one, for a filter key:
// what FilterKey returned. A nil one is in no filter, so that none is checked.
func (r *Reader) tableMayContain(filterKey []byte) (mayContain, checked bool) {
	if r.filters.Table == nil || filterKey == nil {
		return true, false
	}
	mayContain = r.filters.Table.Contains(filterKey)
	if m := r.o.Metrics; m != nil {
		m.countFilterCheck(mayContain)
		if !mayContain {
			m.TableFilterNegatives.Add(1)
		}
	}
	return mayContain, true
}

// blockMayContain checks the filter of data block i, if there is one, for a filter key.
func (r *Reader) blockMayContain(i int, filterKey []byte) (mayContain, checked bool) {
	if r.filters.Blocks == nil || filterKey == nil {
		return true, false
	}
	mayContain = r.filters.Blocks.ContainsInSpan(r.filterSpans[i], filterKey)
	if m := r.o.Metrics; m != nil {
		m.countFilterCheck(mayContain)
	}
	return mayContain, true
}
