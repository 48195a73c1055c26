package set

import (
	"context"
	"errors"

	"github.com/sievetable/sievetable/table"
)

// Get returns the value of key. If no table has the key, the error is [table.ErrNotFound]. A key
// costs no read if it is in no table's range, or if the table's filters rule it out. Any other key
// costs one read of a data block, unless that is in the Cache. If the table is not open, it is
// opened first, which costs one more read. If the table has a filter only, the error for keys that
// it does not rule out is [table.ErrFilterOnly]. With layers, this holds for each that is consulted, the
// newest first. If a table of one is lost, the error is a [*table.HiddenError], which has the value in older layers.
// Metrics of Options.Reader count two lookups where the filters of a layer's table do not rule the key
// out.
//
// If ctx is done, Get returns its error, which errors.Is finds, and begins no read. A read that has
// begun ends when the Source ends it. Get does not wait for a table to be opened when ctx is done.
//
// The value stays valid, also after Close. The caller must not change it. It can be a part of a
// larger buffer, which then stays in memory with it: see [table.Reader.Get].
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

// MayContain reports whether the set may have key. It asks the filters of the key's table, and
// reads nothing unless the table has to be opened. A key that the filters of a layer's removals do not
// rule out costs one read there. False is certain. True is wrong at the filters'
// rate of false positives: see [table.Reader.MayContain]. After an error it returns false. If a
// mapped table was cut, it returns true, unless what is left of a filter denies the key.
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

// TryMayContain is like [Set.MayContain] but reads nothing and never waits: it consults only filters that
// are in memory. known reports whether MayContain would return the same. If it is false, may is true:
// the key's table is not open, the Set is closed, or the filters of a layer's removals do not rule the
// key out. So may = false is always certain.
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
