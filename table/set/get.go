package set

import (
	"bytes"
	"context"
	"errors"
	"sort"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// Get returns the value of key. If the key is absent, Get returns [table.ErrNotFound]. If the key's table has only a
// filter, which does not rule the key out, Get returns [table.ErrFilterOnly]. If a layer's table is missing or
// corrupt, the error is a [*merge.HiddenError], which has the newest value in other tables.
//
// If no table's range contains the key, or filters in memory rule it out, Get reads nothing. Otherwise it reads one
// data block, unless that is cached. The first lookup in a table takes one more read. If ctx is done, Get returns its
// error once the running read ends. The value stays valid and must not be modified: see [table.Reader.Get].
func (s *Set) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer v.release()
	if len(v.layers) == 1 { // no other layer can hide its entries
		return v.layers[0].tables.get(ctx, key, nil)
	}
	value, lost, err := v.layers.get(ctx, key)
	switch {
	case lost == nil:
		return value, err
	case err == nil:
		return nil, &merge.HiddenError{Err: lost, Value: value, Found: true}
	case err == table.ErrNotFound: // even if ctx is done by now
		return nil, &merge.HiddenError{Err: lost}
	case ctx.Err() != nil:
		return nil, err
	}
	return nil, &merge.HiddenError{Err: errors.Join(lost, err)}
}

// get looks up the key in one layer after another, until one contains or removes it. If a table of a newer layer is
// lost, get goes on without it. lost then has the errors of all such tables.
func (all layers) get(ctx context.Context, key []byte) (value []byte, lost, err error) {
	base := len(all) - 1
	k := table.HashKey(key) // once for all layers
	for i := range base {
		l := &all[i]
		value, err = l.tables.get(ctx, key, &k)
		switch {
		case err == table.ErrNotFound:
		case isLost(err):
			lost = errors.Join(lost, err)
		default:
			return value, lost, err
		}
		err = l.removals.checkAbsent(ctx, key, &k)
		switch {
		case isLost(err):
			lost = errors.Join(lost, err)
		case err != nil:
			return nil, lost, err
		}
	}
	value, err = all[base].tables.get(ctx, key, nil)
	return value, lost, err
}

// get looks up the key. If there is no error, the value is not nil. If most lookups in the run miss, the caller
// passes the hashed key as k, and get checks the filters alone first.
func (r *run) get(ctx context.Context, key []byte, k *table.HashedKey) ([]byte, error) {
	m := r.member(key)
	if k != nil {
		if may, _ := m.tryMayContain(k); !may {
			return nil, table.ErrNotFound
		}
	}
	if m == nil {
		return nil, table.ErrNotFound
	}
	return m.get(ctx, key)
}

// checkAbsent returns [table.ErrNotFound] if r, a run of removals, contains the key, or nil if it does not.
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

// get looks up the key. It first uses the open Reader without a reference. If the table is not open, or the Reader
// is closed meanwhile, get tries again with a reference.
func (m *member) get(ctx context.Context, key []byte) ([]byte, error) {
	if h := m.ready(); h != nil {
		value, err := h.reader.With(ctx).Get(key)
		if err == nil || h.state.Load() != closed || !errors.Is(err, table.ErrClosed) {
			h.recount()
			h.recordLookup(err)
			return value, err
		}
	}
	h, err := m.load(ctx)
	if err != nil {
		return nil, err
	}
	defer h.release()
	value, err := h.reader.With(ctx).Get(key)
	h.recordLookup(err)
	return value, err
}

// tryMayContain checks the filters of an open table. If the table is not open, its filter is paged, or a mapped
// filter cannot be read, may is true and known is false. A nil member contains no key.
func (m *member) tryMayContain(k *table.HashedKey) (may, known bool) {
	if m == nil {
		return false, true
	}
	h := m.ready()
	if h == nil || h.paged {
		return true, false
	}
	may, err := h.reader.MayContainHashed(k)
	may = may || err != nil
	h.recount()
	h.recordLookup(err)
	return may, !may || err == nil && h.state.Load() != closed // a closed mapped file no longer has filters
}

// MayContain reports whether the set may contain key. False is certain, except after an error. True is wrong at the
// filters' false-positive rate. MayContain reads only to open the table, for a page of a paged filter, and for a key
// that a layer's removals may contain.
func (s *Set) MayContain(ctx context.Context, key []byte) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	v, err := s.acquire()
	if err != nil {
		return false, err
	}
	defer v.release()
	k := table.HashKey(key) // once for all layers
	for i := range v.layers {
		l := &v.layers[i]
		if may, err := l.tables.member(key).mayContain(ctx, &k); may || err != nil {
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

func (m *member) mayContain(ctx context.Context, k *table.HashedKey) (bool, error) {
	if may, known := m.tryMayContain(k); known {
		return may, nil
	}
	h, err := m.load(ctx)
	if err != nil {
		return false, err
	}
	defer h.release()
	may, err := h.reader.With(ctx).MayContainHashed(k)
	h.recordLookup(err)
	return may, err
}

// TryMayContain is like [Set.MayContain] but never reads, except pages of mapped filters. If it cannot tell without a
// read, or after Close, may is true and known is false.
func (s *Set) TryMayContain(key []byte) (may, known bool) {
	v, err := s.acquire()
	if err != nil {
		return true, false
	}
	defer v.release()
	k := table.HashKey(key)
	known = true
	for i := range v.layers {
		l := &v.layers[i]
		if may, open := l.tables.member(key).tryMayContain(&k); may {
			return true, known && open
		}
		if mayBeRemoved, _ := l.removals.member(key).tryMayContain(&k); mayBeRemoved {
			known = false
		}
	}
	return false, true // a removed key that no older layer contains is absent too
}

// A run is a list of tables in key order, without overlap.
type run struct{ dbread.Run[*member] }

// find returns the index of the only table that can contain key, or −1.
func (r *run) find(key []byte) int {
	i := sort.Search(len(r.Ranges), func(i int) bool { return bytes.Compare(r.Ranges[i].Largest, key) >= 0 })
	if i == len(r.Ranges) || bytes.Compare(r.Ranges[i].Smallest, key) > 0 {
		return -1
	}
	return i
}

// member returns the only table that can contain key, or nil.
func (r *run) member(key []byte) *member {
	if i := r.find(key); i >= 0 {
		return r.Tables[i]
	}
	return nil
}

// A layer contains the tables of a [Layer] as members.
type layer struct{ tables, removals run }

// layers are in order, the newest first. The last one is the base.
type layers []layer
