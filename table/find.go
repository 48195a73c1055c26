package table

import (
	"bytes"

	"github.com/sievetable/sievetable/internal/wire"
)

// Find looks a user key up in a table of a database, which has an [InternalComparer], with a
// key from [SearchKey]. It returns the newest version in this table that the snapshot sees,
// which can be a deletion, and never another user key. If the table has none, the error is
// ErrNotFound, and another table may have one. Search the tables of level 0 from the newest
// to the oldest, then in each further level the one table whose range has the key, and stop
// at the first version that is found.
//
// In general, Find returns the first entry whose key is ≥ key, if FilterKey returns the same
// bytes for both keys, and otherwise ErrNotFound. It checks the filters first, for these
// bytes.
//
// With a FilterKey of your own, all keys of one filter key must be neighbours in the order
// of the table, as keys with a common prefix are. Keys for which FilterKey returns nil
// count as keys of one filter key. The entry that Find returns may then be of another key
// than you want: compare the keys. Without a FilterKey, Find finds exactly what Get finds.
//
// Key and value stay valid, also after Close. The caller must not change them.
func (r *Reader) Find(key []byte) (k, v []byte, err error) { return r.find(&noOptions, key, nil) }

// AppendFind does what Find does, and appends the key and the value of the entry to dstKey and
// dstValue. It returns the extended slices. If there is no such entry, or after any other error,
// it returns the slices as they were. key may be a part of them. The two must not share memory.
//
// It allocates nothing if the slices have enough capacity, and under the conditions that AppendGet
// has for the data block. In every order, each key of the block must take less than 64 KiB.
func (r *Reader) AppendFind(dstKey, dstValue, key []byte) (k, v []byte, err error) {
	return r.appendFind(&noOptions, dstKey, dstValue, key)
}

// appendFind does what AppendFind does, with options.
func (r *Reader) appendFind(o *lookupOptions, dstKey, dstValue, key []byte) (k, v []byte, err error) {
	if k, v, err = r.find(o, key, &entryDst{dstKey, dstValue}); err != nil {
		return dstKey, dstValue, err
	}
	return k, v, nil
}

// An entryDst is what AppendFind appends to.
type entryDst struct{ key, value []byte }

// find does what Find does if dst is nil, and else what AppendFind does, with options. After an
// error it returns nil.
func (r *Reader) find(o *lookupOptions, key []byte, dst *entryDst) (k, v []byte, err error) {
	t, err := r.startLookup(o)
	if err != nil {
		return nil, nil, err
	}
	defer t.mapped.leave(t.mapped.enter(), &err)
	filterKey := filterKeyOf(t.o.FilterKey, key)
	mayContain, tableChecked := t.mayContain(wholeTable, filterKey)
	if !mayContain {
		return nil, nil, ErrNotFound
	}
	memory := dataKeyBudget.forFile(t.footerOffset)
	first, err := t.index.search(key)
	if err != nil {
		return nil, nil, err
	}
	for i := first; i < t.index.len(); i++ {
		mayContain, blockChecked := t.mayContain(i, filterKey)
		if mayContain {
			k, v, found, err := t.findInBlock(o, i, key, filterKey, memory, tableChecked || blockChecked, dst)
			if err != nil || found {
				return k, v, err
			}
		} else if i > first {
			break
		}
		if !t.nextMayHave(i, filterKey) {
			break
		}
		memory = 0 // of the next block it takes the first key, which shares nothing
	}
	return nil, nil, t.notInIndex()
}

// nextMayHave reports whether the data block behind block i may have the first key that is ≥
// a key of that filter key, for which the index has found block i. So it is if block i has
// no key ≥ that key.
func (t *openTable) nextMayHave(i int, filterKey []byte) bool {
	return t.o.FilterKey != nil && (!t.o.filtersUserKeys || t.sameFilterKey(t.index.separator(i), filterKey))
}

// findInBlock returns the first entry of data block i whose key is ≥ key, and whether there
// is one. If it has another filter key than filterKey, the error is ErrNotFound. It takes at
// most that many bytes of memory for keys that share bytes. dst is as for find.
func (t *openTable) findInBlock(o *lookupOptions, i int, key, filterKey []byte, memory int, filterChecked bool, dst *entryDst) (k, v []byte, found bool, err error) {
	var d dataBlock
	defer d.release()
	if err := d.open(t, i, o); err != nil {
		return nil, nil, false, err
	}
	if k, v, found, err = d.seekGE(key, memory, dst != nil); err != nil {
		return nil, nil, false, err
	}
	same := found && t.sameFilterKey(k, filterKey)
	t.endLookup(&d, same, filterChecked)
	switch {
	case !found:
		return nil, nil, false, nil
	case !same:
		return nil, nil, true, ErrNotFound
	case dst != nil && dst.key == nil && dst.value == nil: // one allocation for both
		both := append(append(make([]byte, 0, len(k)+len(v)), k...), v...)
		return both[:len(k):len(k)], both[len(k):], true, nil
	case dst != nil:
		return wire.AppendNotNil(dst.key, k), wire.AppendNotNil(dst.value, v), true, nil
	}
	k, v = d.keepEntry(k, v)
	return k, v, true, nil
}

// sameFilterKey reports whether the filter key of key is filterKey. A FilterKey of the user's
// is not for separators, which may be no keys.
func (t *openTable) sameFilterKey(key, filterKey []byte) bool {
	if t.o.FilterKey == nil {
		return t.order.Compare(key, filterKey) == 0
	}
	key = filterKeyOf(t.o.FilterKey, key)
	return (key == nil) == (filterKey == nil) && bytes.Equal(key, filterKey)
}

// FindGE returns the first entry whose key is ≥ key. If there is none, the error is ErrNotFound,
// or ErrFilterOnly if the table has a filter only.
// It checks no filter, and may read two data blocks: the index finds the block that can have
// key, and the first greater key can be in the next one. It is SeekGE of an Iter for a program
// that wants one entry.
//
// Key and value stay valid, also after Close. The caller must not change them.
func (r *Reader) FindGE(key []byte) (k, v []byte, err error) { return r.findGE(&noOptions, key) }

// findGE does what FindGE does, with options.
func (r *Reader) findGE(o *lookupOptions, key []byte) (k, v []byte, err error) {
	t, err := r.startLookup(o)
	if err != nil {
		return nil, nil, err
	}
	defer t.mapped.leave(t.mapped.enter(), &err)
	memory := dataKeyBudget.forFile(t.footerOffset)
	i, err := t.index.search(key)
	if err != nil {
		return nil, nil, err
	}
	for ; i < t.index.len(); i++ {
		k, v, found, err := t.findGEInBlock(o, i, key, memory)
		if err != nil || found {
			return k, v, err
		}
		memory = 0 // of the next block it takes the first key, which shares nothing
	}
	return nil, nil, t.notInIndex()
}

// findGEInBlock returns the first entry of data block i whose key is ≥ key, and whether there is
// one. It takes at most that many bytes of memory for keys that share bytes.
func (t *openTable) findGEInBlock(o *lookupOptions, i int, key []byte, memory int) (k, v []byte, found bool, err error) {
	var d dataBlock
	defer d.release()
	if err := d.open(t, i, o); err != nil {
		return nil, nil, false, err
	}
	if k, v, found, err = d.seekGE(key, memory, false); err != nil {
		return nil, nil, false, err
	}
	if d.admit(); found {
		k, v = d.keepEntry(k, v)
	}
	return k, v, found, nil
}
