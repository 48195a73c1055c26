package table

import "context"

// With returns a Reader of the same table for lookups and iterators with a context. Once ctx is done, lookups fail
// with its error, even if they read nothing, and iterators fail at the next block that is not cached. GetMany has a
// context of its own. Only a source with ReadAtContext ([NewReader]) can interrupt a running read. Close of one
// Reader closes both. With does not allocate if the result is used at once.
func (r *Reader) With(ctx context.Context) *Reader {
	with := *r
	with.lookups.Ctx = ctx
	return &with
}

// DontFillCache returns a Reader of the same table whose lookups and iterators keep blocks out of the Cache, if dont is
// true. Like With it does not allocate, and Close of one Reader closes both.
func (r *Reader) DontFillCache(dont bool) *Reader {
	with := *r
	with.lookups.NoFill = dont
	return &with
}

// Get returns the value of key, or ErrNotFound. It checks the filters first. In a table with only a filter, keys that
// it does not rule out return ErrFilterOnly. With an InternalComparer, use Find.
//
// The value remains valid after Close. The caller must not modify it. Its capacity equals its length. It may keep its
// data block in memory.
func (r *Reader) Get(key []byte) ([]byte, error) {
	_, v, err := r.find(query{key: key}, &lookupOptions{ReadOptions: r.lookups})
	return v, err
}

// AppendGet is like Get but appends the value to dst. key may alias dst. On error, it returns dst unchanged. It
// allocates nothing if dst has enough capacity and the data block is cached or, without a Cache, takes at most
// 1 MiB.
func (r *Reader) AppendGet(dst, key []byte) ([]byte, error) {
	o := lookupOptions{ReadOptions: r.lookups, appends: true, dstValue: dst}
	_, extended, err := r.find(query{key: key}, &o)
	if err != nil {
		return dst, err
	}
	return extended, nil
}

// Find looks up a user key in a table of a database, with an InternalComparer and an [internalkey.SearchKey]. It
// returns the newest version in this table that the snapshot sees, maybe a deletion, or ErrNotFound. In other
// tables, it is like Get but also returns the key. With a FilterKey of your own, it returns the first entry >= key
// if both have the same filter key. Keys of equal filter key must be neighbors.
//
// Key and value remain valid after Close. The caller must not modify them.
func (r *Reader) Find(key []byte) (k, v []byte, err error) {
	return r.find(query{key: key, match: sameFilterKey}, &lookupOptions{ReadOptions: r.lookups})
}

// AppendFind is like Find but, as AppendGet does, appends key and value to dstKey and dstValue, which must not share
// memory.
func (r *Reader) AppendFind(dstKey, dstValue, key []byte) (k, v []byte, err error) {
	o := lookupOptions{r.lookups, true, dstKey, dstValue}
	if k, v, err = r.find(query{key: key, match: sameFilterKey}, &o); err != nil {
		return dstKey, dstValue, err
	}
	return k, v, nil
}

// FindGE is like Iter.SeekGE but returns a single entry. It checks no filter. If no key is >= key, it returns
// ErrNotFound. Key and value remain valid after Close. The caller must not modify them.
func (r *Reader) FindGE(key []byte) (k, v []byte, err error) {
	return r.find(query{key: key, match: atOrAfter}, &lookupOptions{ReadOptions: r.lookups})
}

// MayContain reports whether filters and index may contain key. If not, Get and Find return ErrNotFound. It is also
// true for false positives, and without a usable filter: see FilterErr. After an error, nothing is known about the
// key. With an InternalComparer, pass an [internalkey.SearchKey].
//
// It reads a page of a paged filter, and some keys to validate the filters the first time.
func (r *Reader) MayContain(key []byte) (bool, error) {
	_, _, err := r.find(query{key: key, match: maybe}, &lookupOptions{ReadOptions: r.lookups})
	if err == ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

// MayContainHashed is like [Reader.MayContain], but faster for a key that is checked in many tables with filters of
// [filter.TableBloom] and no FilterKey.
func (r *Reader) MayContainHashed(k *HashedKey) (bool, error) {
	t, err := r.table()
	excluded, ctx := false, r.lookups.Ctx
	if err == nil && t.sieve.byHash != nil && (ctx == nil || ctx.Err() == nil) {
		err = t.file.Mapped.Guard(func() error { excluded = t.sieve.excludes(k); return nil })
	}
	if err != nil || !excluded {
		return r.MayContain(k.key)
	}
	return false, t.startLookups(1, maybe)
}

func (r *Reader) find(q query, o *lookupOptions) (k, v []byte, err error) {
	if o.Ctx != nil {
		if err := o.Ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	t, err := r.table()
	if err == nil {
		err = t.startLookups(1, q.match)
	}
	if err != nil {
		return nil, nil, err
	}
	return t.lookup(q, o)
}
