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
	for {
		v, err := s.live(ctx)
		if err != nil {
			return nil, err
		}
		if value, err := v.layers.get(ctx, key); err != errEnded {
			return value, err
		}
	}
}

// get looks the key up in one layer after the other, until one has it or has removed it.
func (all layers) get(ctx context.Context, key []byte) ([]byte, error) {
	base := len(all) - 1
	k := table.HashKey(key) // once for all layers
	for i := range base {
		l := &all[i]
		value, err := l.tables.getRare(ctx, key, &k)
		if err == table.ErrNotFound {
			err = l.removals.checkAbsent(ctx, key, &k)
		}
		if err == nil && value == nil {
			continue
		}
		if err != nil && err != table.ErrNotFound && err != errEnded {
			err = all[i+1:].hidden(ctx, key, err)
		}
		return value, err
	}
	return all[base].tables.get(ctx, key)
}

// getRare is get for a run that seldom has the key. k is the key too.
func (r *run) getRare(ctx context.Context, key []byte, k *table.HashedKey) ([]byte, error) {
	if r.rulesOut(key, k) {
		return nil, table.ErrNotFound
	}
	return r.get(ctx, key)
}

// rulesOut reports whether ranges or the filters of an open table rule the key out. It counts no reference:
// a Reader from NewReader answers from its memory also after it was closed.
func (r *run) rulesOut(key []byte, k *table.HashedKey) bool {
	i := r.find(key)
	if i < 0 {
		return true
	}
	open := r.members[i].resident.Load()
	if open == nil || open.reader.MayContainHashed(k) {
		return false
	}
	open.touch()
	open.recount()
	return true
}

// get looks the key up. The value is not nil if there is no error.
func (r *run) get(ctx context.Context, key []byte) ([]byte, error) {
	l, err := r.lookup(ctx, key)
	if err != nil {
		return nil, err
	}
	defer l.end()
	return l.reader.With(ctx, table.LookupOptions{}).Get(key)
}

// checkAbsent returns [table.ErrNotFound] if the key is one of these removals.
func (r *run) checkAbsent(ctx context.Context, key []byte, k *table.HashedKey) error {
	_, err := r.getRare(ctx, key, k)
	switch {
	case err == nil:
		return table.ErrNotFound
	case err == table.ErrNotFound:
		return nil
	}
	return err
}

// MayContain reports whether the set may have key. It asks the filters of the key's table, and
// reads nothing unless the table has to be opened. A key that the filters of a layer's removals do not
// rule out costs one read there. False is certain. True is wrong at the filters'
// rate of false positives: see [table.Reader.MayContain]. After an error it returns false. If a
// mapped table was cut, it returns true, unless what is left of a filter denies the key.
func (s *Set) MayContain(ctx context.Context, key []byte) (bool, error) {
	for {
		v, err := s.live(ctx)
		if err != nil {
			return false, err
		}
		if may, err := v.mayContain(ctx, key); err != errEnded {
			return may, err
		}
	}
}

// mayContain asks the filters of one layer after the other, until one may have the key or has removed it.
func (v *version) mayContain(ctx context.Context, key []byte) (bool, error) {
	k := table.HashKey(key)
	for i := range v.layers {
		l := &v.layers[i]
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
	l, err := r.lookup(ctx, key)
	if err == table.ErrNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer l.end()
	return l.reader.MayContainHashed(k), nil
}

// live returns the version that lookups use, without a reference: its tables can end.
func (s *Set) live(ctx context.Context) (*version, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := s.current.Load()
	if v == nil {
		return nil, table.ErrClosed
	}
	return v, nil
}

// errEnded is the error of a lookup in a version that has ended. There is a newer one, or the Set is
// closed.
var errEnded = errors.New("set: the version has ended")

// lookup begins a lookup of the table that can have key. The caller ends it. If there is no table, the
// error is table.ErrNotFound.
func (r *run) lookup(ctx context.Context, key []byte) (lookup, error) {
	i := r.find(key)
	if i < 0 {
		return lookup{}, table.ErrNotFound
	}
	m := r.members[i]
	if l, ok := m.beginLookup(); ok {
		return l, nil
	}
	if m.refs.Acquire() {
		r, err := m.load(ctx)
		return lookup{resident: r}, err
	}
	return lookup{}, errEnded
}
