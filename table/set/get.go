package set

import (
	"context"
	"errors"

	"github.com/sievetable/sievetable/table"
)

// Get returns the value of key. If the key is absent, Get returns [table.ErrNotFound].
//
// If the key is in no table's range, or the table's filters rule it out, Get reads nothing. Otherwise it
// reads one data block, unless that is cached. The first lookup in a table opens it, which takes one more
// read. If the table has only a filter, and that does not rule the key out, Get returns
// [table.ErrFilterOnly].
//
// Layers are searched one after the other, newest first, until one contains the key or has removed it. If
// a layer's table is missing or corrupt, the error is a [*table.HiddenError], which has the value in older
// layers. Metrics of Options.Reader count two lookups in a layer whose filters do not rule the key out.
//
// If ctx is done, Get returns its error and begins no read. A read that has begun ends when the
// Source ends it.
//
// The value stays valid, even after Close. The caller must not modify it. It may be part of a larger
// buffer, which then stays in memory: see [table.Reader.Get].
func (s *Set) Get(ctx context.Context, key []byte) ([]byte, error) {
	v, err := s.startLookup(ctx)
	if err != nil {
		return nil, err
	}
	defer v.release()
	return v.layers.get(ctx, key)
}

// startLookup returns a use of the current version, unless ctx is done.
func (s *Set) startLookup(ctx context.Context) (use, error) {
	if err := ctx.Err(); err != nil {
		return use{}, err
	}
	return s.acquire()
}

// get looks the key up in one layer after the other, until one has it or has removed it.
func (all layers) get(ctx context.Context, key []byte) ([]byte, error) {
	base := len(all) - 1
	k := table.HashKey(key) // once for all layers
	for i := range base {
		l := &all[i]
		value, err := l.tables.get(ctx, key, &k)
		if err == table.ErrNotFound {
			err = l.removals.checkAbsent(ctx, key, &k)
		}
		if err == nil && value == nil {
			continue
		}
		if err != nil && err != table.ErrNotFound {
			err = all[i+1:].hidden(ctx, key, err)
		}
		return value, err
	}
	return all[base].tables.get(ctx, key, nil)
}

// get looks the key up. The value is not nil if there is no error. If the run seldom has the key, k is the
// key too, and the filters are asked alone first.
func (r *run) get(ctx context.Context, key []byte, k *table.HashedKey) ([]byte, error) {
	m := r.member(key)
	if m == nil {
		return nil, table.ErrNotFound
	}
	if k != nil {
		if may, _ := m.tryMayContain(k); !may {
			return nil, table.ErrNotFound
		}
	}
	return m.get(ctx, key)
}

// checkAbsent returns [table.ErrNotFound] if the key is one of these removals.
func (r *run) checkAbsent(ctx context.Context, key []byte, k *table.HashedKey) error {
	_, err := r.get(ctx, key, k)
	switch {
	case err == nil:
		return table.ErrNotFound
	case err == table.ErrNotFound:
		return nil
	}
	return err
}

// get looks the key up. Without a reference, the Reader can be closed before it begins. Then, and if the
// table is not open, it takes one with a reference.
func (m *member) get(ctx context.Context, key []byte) ([]byte, error) {
	if r := m.open(); r != nil {
		value, err := r.reader.With(ctx, table.LookupOptions{}).Get(key)
		if err == nil || !r.closed.Load() || !errors.Is(err, table.ErrClosed) {
			r.recount()
			return value, err
		}
	}
	return m.loadAndGet(ctx, key)
}

func (m *member) loadAndGet(ctx context.Context, key []byte) ([]byte, error) {
	r, err := m.load(ctx)
	if err != nil {
		return nil, err
	}
	defer r.release()
	return r.reader.With(ctx, table.LookupOptions{}).Get(key)
}

// tryMayContain asks the filters of an open table. If it is not open, may is true and known false.
func (m *member) tryMayContain(k *table.HashedKey) (may, known bool) {
	r := m.open()
	if r == nil {
		return true, false
	}
	may = r.reader.MayContainHashed(k)
	r.recount()
	return may, !may || !r.closed.Load() // a mapped file that was closed has no filters any more
}

// MayContain reports whether the set may contain key. False is certain. True is wrong at the filters'
// false-positive rate: see [table.Reader.MayContain]. After an error, MayContain returns false.
//
// MayContain consults the filters of the key's table. It reads only to open the table, and to look up
// a key that the filters of a layer's removals do not rule out. If a mapped file was truncated, it
// returns true, unless the rest of a filter rules the key out.
func (s *Set) MayContain(ctx context.Context, key []byte) (bool, error) {
	v, err := s.startLookup(ctx)
	if err != nil {
		return false, err
	}
	defer v.release()
	return v.layers.mayContain(ctx, key)
}

// mayContain asks the filters of one layer after the other, until one may have the key or has removed it.
func (all layers) mayContain(ctx context.Context, key []byte) (bool, error) {
	k := table.HashKey(key)
	for i := range all {
		l := &all[i]
		if may, err := l.tables.mayContain(ctx, key, &k); may || err != nil {
			return may, err
		}
		switch err := l.removals.checkAbsent(ctx, key, &k); err {
		case nil:
		case table.ErrNotFound:
			return false, nil
		default:
			return false, err
		}
	}
	return false, nil
}

func (r *run) mayContain(ctx context.Context, key []byte, k *table.HashedKey) (bool, error) {
	m := r.member(key)
	if m == nil {
		return false, nil
	}
	if may, known := m.tryMayContain(k); known {
		return may, nil
	}
	open, err := m.load(ctx)
	if err != nil {
		return false, err
	}
	defer open.release()
	return open.reader.MayContainHashed(k), nil
}

// TryMayContain is like [Set.MayContain] but never blocks: it consults only filters that are already
// loaded. known reports whether MayContain would return the same. If known is false, may is true. That is
// so if the key's table is not open, if the filters of a layer's removals do not rule the key out, or
// if the Set is closed.
//
// With Mapped, the system may have to read parts of filters into its page cache.
func (s *Set) TryMayContain(key []byte) (may, known bool) {
	v, err := s.acquire()
	if err != nil {
		return true, false
	}
	defer v.release()
	return v.layers.tryMayContain(key)
}

// tryMayContain asks one layer after the other, the newest first. Whether a key was removed does not
// matter if no older layer has it.
func (all layers) tryMayContain(key []byte) (may, known bool) {
	k := table.HashKey(key)
	known = true
	for i := range all {
		l := &all[i]
		if may, open := l.tables.tryMayContain(key, &k); may {
			return true, known && open
		}
		if mayBeRemoved, _ := l.removals.tryMayContain(key, &k); mayBeRemoved {
			known = false
		}
	}
	return false, true
}

func (r *run) tryMayContain(key []byte, k *table.HashedKey) (may, open bool) {
	m := r.member(key)
	if m == nil {
		return false, true
	}
	return m.tryMayContain(k)
}
