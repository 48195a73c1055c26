package table

import "github.com/sievetable/sievetable/internal/wire"

// Get returns the value of key. If the table does not have the key, the error is
// ErrNotFound. Get checks the filters first: a key that they rule out costs no read of a
// data block. If the table has a filter only, the error for other keys is ErrFilterOnly. With
// an InternalComparer, key is a whole internal key: see Find and SearchKey to look up a user
// key.
//
// The value stays valid, also after Close. The caller must not change it. It has no
// capacity behind it. It can be a part of a larger buffer, which then stays in memory with
// it: with a Cache that is the data block, and without one at most about four times the
// value.
func (r *Reader) Get(key []byte) ([]byte, error) {
	t, err := r.startLookup(&noOptions)
	if err != nil {
		return nil, err
	}
	return t.get(&noOptions, key, nil)
}

// AppendGet appends the value of key to dst and returns the extended slice. If the table
// does not have the key, or after any other error, it returns dst as it was.
//
// It allocates nothing if dst has enough capacity and
//
//   - the data block takes at most 1 MiB, in the file and decompressed, and in an order that is not
//     bytewise each of its keys takes less than 64 KiB;
//   - with a Cache: the block is in it.
func (r *Reader) AppendGet(dst, key []byte) ([]byte, error) { return r.appendGet(&noOptions, dst, key) }

// appendGet does what AppendGet does, with options.
func (r *Reader) appendGet(o *lookupOptions, dst, key []byte) ([]byte, error) {
	t, err := r.startLookup(o)
	if err != nil {
		return dst, err
	}
	extended, err := t.get(o, key, &dst)
	if err != nil {
		return dst, err
	}
	return extended, nil
}

// getMapped is get for a mapped file: a deferred call takes longer than what get does for some keys.
func (t *openTable) getMapped(o lookupOptions, key []byte, dst *[]byte) (kept []byte, err error) {
	defer t.mapped.leave(t.mapped.enter(), &err)
	o.entered = true
	return t.get(&o, key, dst)
}

// get does what Get does if dst is nil, and else what AppendGet does, with options. After an
// error it returns nil.
func (t *openTable) get(o *lookupOptions, key []byte, dst *[]byte) (kept []byte, err error) {
	if t.mapped != nil && !o.entered {
		return t.getMapped(*o, key, dst)
	}
	i, filterChecked, err := t.locate(key)
	if err != nil {
		return nil, err
	}
	var d dataBlock
	var value []byte
	if err = d.open(t, i, o); err == nil {
		value, err = d.get(key, filterChecked)
	}
	switch {
	case err != nil:
	case dst == nil || len(*dst) == 0 && cap(*dst) < len(value) && d.buffers != nil: // no copy if it is large
		kept = d.keepValue(value)
	default:
		kept = wire.AppendNotNil(*dst, value)
	}
	d.release()
	return kept, err
}

// locate returns the only data block that can have key, and whether a filter was checked.
// The error is ErrNotFound if filters or index rule key out.
func (t *openTable) locate(key []byte) (i int, filterChecked bool, err error) {
	filterKey := key
	if t.o.FilterKey != nil || key == nil {
		filterKey = filterKeyOf(t.o.FilterKey, key)
	}
	if t.filters.Table == nil {
		return t.locateInIndex(key, filterKey, false)
	}
	mayContain, checked := t.mayContain(wholeTable, filterKey)
	if !mayContain {
		return 0, true, ErrNotFound
	}
	return t.locateInIndex(key, filterKey, checked)
}

// locateInIndex is locate for a key that the table filter does not rule out, if that was checked.
func (t *openTable) locateInIndex(key, filterKey []byte, tableChecked bool) (i int, filterChecked bool, err error) {
	if i, err = t.index.search(key); err != nil {
		return 0, tableChecked, err
	}
	if i == t.index.len() {
		return 0, tableChecked, t.notInIndex()
	}
	mayContain, blockChecked := t.mayContain(i, filterKey)
	if !mayContain {
		return 0, true, ErrNotFound
	}
	return i, tableChecked || blockChecked, nil
}

// notInIndex is the error for a key that is > all separators.
func (t *openTable) notInIndex() error {
	if t.hidden != nil {
		return t.hidden
	}
	return ErrNotFound
}

// startLookups counts n lookups, and returns an error if the Reader cannot do any.
func (t *openTable) startLookups(n int) error {
	if t.closed.Load() {
		return ErrClosed
	}
	if err := t.searchable(); err != nil {
		return err
	}
	if m := t.o.Metrics; m != nil {
		m.Lookups.Add(uint64(n))
	}
	return nil
}

// endLookup admits data block d to the cache, but not after a filter's false positive:
// nobody may need that block again.
func (t *openTable) endLookup(d *dataBlock, found, filterChecked bool) {
	if found || !filterChecked {
		d.admit()
		return
	}
	if m := t.o.Metrics; m != nil {
		m.FilterFalsePositives.Add(1)
	}
}

// These stand for all data blocks of a table, which the table filter is for.
const (
	wholeTable        = -1 // asked for a key
	wholeTableByStart = -2 // asked for a prefix, which exceptions are not about
)

// mayContain checks the filter of data block i, or the table filter, for a filter key, if there are both.
// A key whose filter key is nil is in no filter. If the block cannot be found it may have the key: to read
// it is an error.
func (t *openTable) mayContain(i int, filterKey []byte) (mayContain, checked bool) {
	if filterKey == nil || t.trust.state.Load() == distrusted {
		return true, false
	}
	switch {
	case i < 0 && t.filters.Table != nil:
		mayContain = t.filters.Table.Contains(filterKey) &&
			(t.filters.Never == nil || i == wholeTableByStart || !t.filters.Never.Contains(filterKey))
	case i >= 0 && t.index.filters != nil:
		span, err := t.index.span(i)
		if err != nil {
			return true, false
		}
		mayContain = t.index.filters.ContainsInSpan(span, filterKey)
	default:
		return true, false
	}
	return t.believe(mayContain, i < 0)
}

// believe returns what the answer of a filter is worth, and counts it: true if the filter is not believed.
func (t *openTable) believe(answer, ofTable bool) (mayContain, checked bool) {
	if !answer && t.trust.state.Load() != trusted && !t.mayDeny() {
		return true, false
	}
	if m := t.o.Metrics; m != nil {
		m.countFilterCheck(answer, ofTable)
	}
	return answer, true
}
