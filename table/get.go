package table

import (
	"context"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// Get returns the value of key. If the table does not have the key, Get returns ErrNotFound. It
// consults the filters first: a key that they rule out costs no read of a data block. If the table
// has a filter only, the error for other keys is ErrFilterOnly. With an InternalComparer, key is a
// whole internal key: use Find and SearchKey to look up a user key.
//
// The value stays valid after Close. The caller must not change it. Its capacity equals its length.
// It can be part of a larger buffer, which then stays in memory: the data block if there is a Cache,
// and otherwise at most about four times the value.
func (r *Reader) Get(key []byte) ([]byte, error) {
	_, v, err := r.find(query{key: key}, &noOptions)
	return v, err
}

// AppendGet appends the value of key to dst and returns the extended slice. If the table does not
// have the key, or after any other error, it returns dst as it was.
//
// It allocates nothing if dst has enough capacity and
//
//   - the data block takes at most 1 MiB, in the file and decompressed, and in an order that is not
//     bytewise each of its keys takes less than 64 KiB;
//   - with a Cache: the block is in it.
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

// Find looks a user key up in a table of a database, which has an [InternalComparer], with a key from
// [SearchKey]. It returns the newest version in this table that the snapshot sees, which can be a
// deletion, and never another user key. If the table has none, Find returns ErrNotFound, and another
// table may have one. Search the tables of level 0 from the newest to the oldest, then in each further
// level the one table whose range has the key, and stop at the first version that is found.
//
// In general, Find returns the first entry whose key is >= key, if FilterKey returns the same bytes for
// both keys, and otherwise ErrNotFound. It consults the filters first, for these bytes.
//
// With a FilterKey of your own, all keys of one filter key must be neighbours in the order of the table,
// as keys with a common prefix are. Keys for which FilterKey returns nil count as keys of one filter key.
// Find may then return an entry for a different key: callers must compare keys. Without a FilterKey, Find
// finds exactly what Get finds.
//
// Key and value stay valid after Close. The caller must not change them.
func (r *Reader) Find(key []byte) (k, v []byte, err error) {
	return r.find(query{key: key, match: sameFilterKey}, &noOptions)
}

// AppendFind is like Find, but appends the key and the value of the entry to dstKey and dstValue, and
// returns the extended slices. If there is no such entry, or after any other error, it returns the slices
// as they were. key may be a part of them. The two must not share memory.
//
// It allocates nothing if the slices have enough capacity, and under the conditions that AppendGet has for
// the data block. In every order, each key of the block must take less than 64 KiB.
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

// FindGE returns the first entry whose key is >= key. If there is none, it returns ErrNotFound, or
// ErrFilterOnly if the table has a filter only. It is like SeekGE of an Iter, but returns a single entry:
// it consults no filter, and may read two data blocks.
//
// Key and value stay valid after Close. The caller must not change them.
func (r *Reader) FindGE(key []byte) (k, v []byte, err error) {
	return r.find(query{key: key, match: atOrAfter}, &noOptions)
}

// MayContain reports whether the table may have key. It consults the filters and the index alone, and
// reads nothing, except when a filter of a table from Open rules out a key for the first time: see Open.
// If it returns false, Get and Find return ErrNotFound. True can be wrong, at the filters' rate of false
// positives. Without a filter, or if FilterErr says that it is not used, true means only that key is <= the
// last separator. Some filters are used only if their policy is in ReaderOptions.TableFilterPolicies.
//
// The key is one for Get or Find. With an InternalComparer, MayContain(SearchKey(nil, user, MaxSequence))
// is about a user key.
//
// MayContain works after Close too. For a mapped file it then returns true. For a table from Open, filters
// that have ruled out no key before Close rule out none after it: call FilterErr before Close to have them
// checked. If the index cannot be read, MayContain returns true.
func (r *Reader) MayContain(key []byte) bool {
	if m := r.o.Metrics; m != nil {
		m.Lookups.Add(1)
	}
	t, err := r.table()
	return err != nil || t.mayContain(key)
}

// mayContain reports whether filters and index leave open that the table has key.
func (t *openTable) mayContain(key []byte) bool {
	_, _, err := t.lookup(query{key: key, match: maybe}, &noOptions)
	return err != ErrNotFound
}

// MayContainHashed is like [Reader.MayContain]. For a key that many tables are queried for, such as those of the levels
// of a storage engine, it takes less time, if the tables have filters of [filter.TableBloom] and no FilterKey.
func (r *Reader) MayContainHashed(k *HashedKey) bool {
	if m := r.o.Metrics; m != nil {
		m.Lookups.Add(1)
	}
	t, err := r.table()
	if err != nil {
		return true
	}
	excluded := false
	if err := t.file.Guard(func() error { excluded = t.sieve.excludes(k); return nil }); err != nil {
		return true
	}
	return !excluded && t.mayContain(k.key)
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

// Lookups are the lookups and iterators of a Reader with options. Each method behaves like the Reader's
// method of the same name. [Reader.With] returns Lookups; the zero value must not be used. They are safe
// for concurrent use. Making them does not allocate.
type Lookups struct {
	r *Reader
	o lookupOptions
}

// With returns lookups whose reads ctx ends. If ctx is done before the last read of a lookup has ended,
// the lookup returns the error of ctx, and begins no further read. A [ContextReaderAt] is read by
// ReadAtContext. For any other source, such as a file, a lookup waits for its ReadAt.
func (r *Reader) With(ctx context.Context) Lookups {
	return Lookups{r, lookupOptions{ReadOptions: tablefile.ReadOptions{Ctx: ctx}}}
}

// DontFillCache returns lookups that, if dont is true, do not add the blocks that they read to the Cache. Use it if
// these blocks will not be needed again soon, as in a check of all keys.
func (l Lookups) DontFillCache(dont bool) Lookups {
	l.o.NoFill = dont
	return l
}

// Get is [Reader.Get] with the options.
func (l Lookups) Get(key []byte) ([]byte, error) {
	_, v, err := l.r.find(query{key: key}, &l.o)
	return v, err
}

// AppendGet is [Reader.AppendGet] with the options.
func (l Lookups) AppendGet(dst, key []byte) ([]byte, error) {
	l.o.appends, l.o.dstValue = true, dst
	return l.r.appendGet(key, &l.o)
}

// Find is [Reader.Find] with the options.
func (l Lookups) Find(key []byte) (k, v []byte, err error) {
	return l.r.find(query{key: key, match: sameFilterKey}, &l.o)
}

// AppendFind is [Reader.AppendFind] with the options.
func (l Lookups) AppendFind(dstKey, dstValue, key []byte) (k, v []byte, err error) {
	l.o.appends, l.o.dstKey, l.o.dstValue = true, dstKey, dstValue
	return l.r.appendFind(key, &l.o)
}

// FindGE is [Reader.FindGE] with the options.
func (l Lookups) FindGE(key []byte) (k, v []byte, err error) {
	return l.r.find(query{key: key, match: atOrAfter}, &l.o)
}

// NewIter is [Reader.NewIter] with the options: if ctx is done, a move that needs a read fails with its
// error. DontFillCache of l or of o is enough.
func (l Lookups) NewIter(o *IterOptions) *Iter {
	it := new(Iter)
	it.c.NoFill = l.o.NoFill
	it.init(l.r, o, l.o.Ctx)
	return it
}
