package table

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
)

// A filterTrust is what is known of the filters of a table that Open has opened: whether they have the
// table's first key. If one denies it, they would hide keys, and none is used. Most likely FilterKey is
// not the one that the table was written with, and then the other filter has the key by chance only.
//
// This is found out when a filter denies a key for the first time. Until then the filters have hidden
// nothing.
type filterTrust struct {
	state atomic.Int32 // 0 until it is known
	mu    sync.Mutex
	err   error // which filters deny the key, if they do
}

const (
	trusted    = 1
	distrusted = 2
)

// mayDeny reports whether a filter that denies a key may be believed. If the first key cannot be read
// it may, since lookups will report that; but if the source fails, the next denial asks again.
func (t *openTable) mayDeny() bool {
	if state := t.trust.state.Load(); state != 0 {
		return state == trusted
	}
	t.trust.mu.Lock()
	defer t.trust.mu.Unlock()
	if t.trust.state.Load() == 0 {
		h, key, err := t.firstKey()
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return false
		}
		state := int32(trusted)
		if err == nil {
			if t.trust.err = t.denials(h, key); t.trust.err != nil {
				state = distrusted
			}
		}
		t.trust.state.Store(state)
	}
	return t.trust.state.Load() == trusted
}

// distrust returns why no filter may be believed, or nil if they may, or if there are none.
func (t *openTable) distrust() (err error) {
	defer t.mapped.leave(t.mapped.enter(), &err)
	if t.filters.Blocks == nil && t.filters.Table == nil || t.mayDeny() || t.trust.state.Load() != distrusted {
		return nil
	}
	return t.trust.err
}

// firstKey returns the first key of the table in any order, and where its data block is.
func (t *openTable) firstKey() (Handle, []byte, error) {
	h, err := t.index.handle(0)
	if err != nil {
		return h, nil, err
	}
	b := buffersPool.Get().(*buffers)
	defer b.put()
	contents, err := t.readInPlace(DataBlock, h, b)
	if err != nil {
		return h, nil, err
	}
	key, _, found, err := block.SeekGE(contents, block.Order{}, nil, nil) // no key is < nil
	if err == nil && !found {
		err = ErrCorrupt
	}
	return h, bytes.Clone(key), err
}

// denials returns an error for each filter that denies key, the first one of the data block at h.
func (t *openTable) denials(h Handle, key []byte) error {
	var denials [2]error
	if f := t.filters.Table; f != nil {
		denials[0] = t.denial(t.filters.TableEntry, f.Contains, key)
	}
	if f := t.filters.Blocks; f != nil {
		contains := func(key []byte) bool { return f.Contains(h.Offset, key) }
		denials[1] = t.denial(t.filters.BlocksEntry, contains, key)
	}
	return errors.Join(denials[:]...)
}

// denial returns an error if a filter denies key, the table's first one.
func (t *openTable) denial(listed MetaindexEntry, contains func(filterKey []byte) bool, key []byte) error {
	filterKey := filterKeyOf(t.o.FilterKey, key)
	if filterKey == nil || contains(filterKey) {
		return nil
	}
	hint := "FilterKey is not the one that the table was written with, or the filter is damaged"
	if user := InternalFilterKey(key); user != nil && !bytes.Equal(user, filterKey) && contains(user) {
		hint = "it has the key without its last 8 bytes, as in a database: use InternalComparer, or FilterKey: InternalFilterKey"
	} else if !bytes.Equal(key, filterKey) && contains(key) {
		hint = "it has the whole key: use a FilterKey that returns the key"
	}
	return t.errorf("%s at %d denies the table's first key %s and is not used: %s", listed.Name, listed.Offset, wire.Quote(key), hint)
}
