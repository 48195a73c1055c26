package goleveldb

import (
	"bytes"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/table"
)

// Find returns the first entry whose key is >= key. If there is none, it returns ErrNotFound. If filtered is true and
// the table has a filter, Find checks it first, and also returns ErrNotFound if the table does not contain key itself
// (in the engine's tables, its user key). The caller owns the slices. ro may be nil.
func (r *Reader) Find(key []byte, filtered bool, ro *opt.ReadOptions) (rkey, value []byte, err error) {
	t, err := r.toSearch()
	if err != nil {
		return nil, nil, err
	}
	lookups := t.DontFillCache(ro.GetDontFillCache())
	if filtered && t.Filters().Blocks != nil {
		rkey, value, err = lookups.AppendFind(nil, nil, key)
		return rkey, value, r.translate(err)
	}
	rkey, value, err = lookups.FindGE(key)
	return bytes.Clone(rkey), bytes.Clone(value), r.translate(err)
}

// FindKey is like Find but returns only the key.
func (r *Reader) FindKey(key []byte, filtered bool, ro *opt.ReadOptions) (rkey []byte, err error) {
	rkey, _, err = r.Find(key, filtered, ro)
	return rkey, err
}

// Get returns the value of key. If key is absent, it returns ErrNotFound. In the engine's tables, key is a whole
// internal key. The caller owns the slice. ro may be nil.
func (r *Reader) Get(key []byte, ro *opt.ReadOptions) (value []byte, err error) {
	t, err := r.toSearch()
	if err != nil {
		return nil, err
	}
	lookups := t.DontFillCache(ro.GetDontFillCache())
	if !r.order.foreign {
		value, err = lookups.AppendGet(nil, key)
		return value, r.translate(err)
	}
	// In a program's own order, keys with different bytes can be equal, but not in a filter.
	rkey, value, err := lookups.FindGE(key)
	if err == nil && r.order.comparer.Compare(rkey, key) != 0 {
		value, err = nil, table.ErrNotFound
	}
	return bytes.Clone(value), r.translate(err)
}
