package table

import (
	"context"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// Get returns the value of key, or ErrNotFound. It checks the filters first. In a table with only a filter, keys that
// it does not rule out return ErrFilterOnly. With an InternalComparer, use Find.
//
// The value remains valid after Close. The caller must not modify it. Its capacity equals its length. It may keep its
// data block in memory.
func (r *Reader) Get(key []byte) ([]byte, error) {
	_, v, err := r.find(query{key: key}, &noOptions)
	return v, err
}

// AppendGet is Get, but appends the value to dst. Key may be a part of dst. On error, it returns dst unchanged. It
// allocates nothing if dst has enough capacity and the data block is cached or, without a Cache, takes at most 1 MiB.
func (r *Reader) AppendGet(dst, key []byte) ([]byte, error) {
	return r.appendGet(key, &lookupOptions{appends: true, dstValue: dst})
}

// appendGet is AppendGet with options.
func (r *Reader) appendGet(key []byte, o *lookupOptions) ([]byte, error) {
	_, extended, err := r.find(query{key: key}, o)
	if err != nil {
		return o.dstValue, err
	}
	return extended, nil
}

// Find looks up a user key in a table of a database, with an InternalComparer and a key from [SearchKey]. It returns
// the newest version in this table that the snapshot sees, maybe a deletion, or ErrNotFound. In other
// tables too, it returns the first entry >= key, if both have the same filter key. With a FilterKey of your own, it may be
// the entry of another key, and keys of equal filter key must be neighbors.
//
// Key and value remain valid after Close. The caller must not modify them.
func (r *Reader) Find(key []byte) (k, v []byte, err error) {
	return r.find(query{key: key, match: sameFilterKey}, &noOptions)
}

// AppendFind is Find, but like AppendGet appends key and value to dstKey and dstValue, which must not share memory.
func (r *Reader) AppendFind(dstKey, dstValue, key []byte) (k, v []byte, err error) {
	return r.appendFind(key, &lookupOptions{appends: true, dstKey: dstKey, dstValue: dstValue})
}

// appendFind is AppendFind with options.
func (r *Reader) appendFind(key []byte, o *lookupOptions) (k, v []byte, err error) {
	if k, v, err = r.find(query{key: key, match: sameFilterKey}, o); err != nil {
		return o.dstKey, o.dstValue, err
	}
	return k, v, nil
}

// FindGE is like Iter.SeekGE but returns a single entry. It checks no filter. If no key is >= key, it returns
// ErrNotFound. Key and value remain valid after Close. The caller must not modify them.
func (r *Reader) FindGE(key []byte) (k, v []byte, err error) {
	return r.find(query{key: key, match: atOrAfter}, &noOptions)
}

// MayContain reports whether filters and index may contain key. If not, Get and Find return ErrNotFound. It is also
// true for false positives, and without a usable filter: see FilterErr. With an InternalComparer, pass a [SearchKey].
//
// It reads a page of a paged filter, and some keys to validate the filters the first time. After Close it works, but
// is always true for a mapped file.
func (r *Reader) MayContain(key []byte) bool {
	mayContain, err := r.mayContain(key, &noOptions)
	return mayContain || err != nil
}

// mayContain is MayContain with options. If there is an error, nothing is known of the key.
func (r *Reader) mayContain(key []byte, o *lookupOptions) (bool, error) {
	if m := r.o.Metrics; m != nil {
		m.Lookups.Add(1)
	}
	t, err := r.table()
	if err == nil {
		_, _, err = t.lookup(query{key: key, match: maybe}, o)
	}
	if err == ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

// MayContainHashed is like [Reader.MayContain], but faster for a key that is checked in many tables with filters of
// [filter.TableBloom] and no FilterKey.
func (r *Reader) MayContainHashed(k *HashedKey) bool {
	t, err := r.table()
	if err != nil {
		return true
	}
	excluded := false
	if err := t.file.Guard(func() error { excluded = t.sieve.excludes(k); return nil }); err != nil {
		return true
	}
	if !excluded {
		return r.MayContain(k.key)
	}
	if m := r.o.Metrics; m != nil {
		m.Lookups.Add(1)
	}
	return false
}

// find returns the entry of a query.
func (r *Reader) find(q query, o *lookupOptions) (k, v []byte, err error) {
	if o.Ctx != nil {
		if err := o.Ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	t, err := r.table()
	if err == nil {
		err = t.startLookups(1)
	}
	if err != nil {
		return nil, nil, err
	}
	return t.lookup(q, o)
}

// startLookups counts n lookups, and returns an error if the Reader cannot do any.
func (t *openTable) startLookups(n int) error {
	if t.file.Closed.Load() {
		return ErrClosed
	}
	if t.refused != nil {
		return t.refused
	}
	if m := t.o.Metrics; m != nil {
		m.Lookups.Add(uint64(n))
	}
	return nil
}

// Lookups are a Reader's lookups and iterators with a context, from [Reader.With]. Each method is like the Reader's
// method of the same name. Lookups are safe for concurrent use, and do not allocate. The zero value must not be
// used.
type Lookups struct {
	r *Reader
	o lookupOptions
}

// With returns [Lookups] with a context. If ctx is done before the last read of a lookup has ended, the lookup returns
// ctx.Err(). Only a [ContextReaderAt] interrupts a read that runs.
func (r *Reader) With(ctx context.Context) Lookups {
	return Lookups{r, lookupOptions{ReadOptions: tablefile.ReadOptions{Ctx: ctx}}}
}

// DontFillCache keeps blocks out of the Cache, if dont is true.
func (l Lookups) DontFillCache(dont bool) Lookups {
	l.o.NoFill = dont
	return l
}

// Get is [Reader.Get] with the context.
func (l Lookups) Get(key []byte) ([]byte, error) {
	_, v, err := l.r.find(query{key: key}, &l.o)
	return v, err
}

// AppendGet is [Reader.AppendGet] with the context.
func (l Lookups) AppendGet(dst, key []byte) ([]byte, error) {
	l.o.appends, l.o.dstValue = true, dst
	return l.r.appendGet(key, &l.o)
}

// Find is [Reader.Find] with the context.
func (l Lookups) Find(key []byte) (k, v []byte, err error) {
	return l.r.find(query{key: key, match: sameFilterKey}, &l.o)
}

// AppendFind is [Reader.AppendFind] with the context.
func (l Lookups) AppendFind(dstKey, dstValue, key []byte) (k, v []byte, err error) {
	l.o.appends, l.o.dstKey, l.o.dstValue = true, dstKey, dstValue
	return l.r.appendFind(key, &l.o)
}

// FindGE is [Reader.FindGE] with the context.
func (l Lookups) FindGE(key []byte) (k, v []byte, err error) {
	return l.r.find(query{key: key, match: atOrAfter}, &l.o)
}

// NewIter is [Reader.NewIter] with the context.
func (l Lookups) NewIter(o *IterOptions) *Iter {
	it := new(Iter)
	it.c.NoFill = l.o.NoFill
	it.init(l.r, o, l.o.Ctx)
	return it
}
