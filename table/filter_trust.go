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
// table's first keys. If one denies any, they would hide keys, and none is used. Most likely FilterKey is
// not the one that the table was written with, and then filters have the other keys by chance only.
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

// mayDeny reports whether a filter that denies a key may be believed. If the first keys are damaged
// it may, since lookups will report that; but if the source fails, the next denial asks again.
func (t *openTable) mayDeny() bool {
	if state := t.trust.state.Load(); state != 0 {
		return state == trusted
	}
	t.trust.mu.Lock()
	defer t.trust.mu.Unlock()
	if t.trust.state.Load() == 0 {
		denied, err := t.denialOfFirstKeys()
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return false
		}
		state := int32(trusted)
		if denied != nil {
			t.trust.err, state = denied, distrusted
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

// maxAsked is how many of the first keys filters are asked for. With a wrong FilterKey, a filter of 10
// bits per key has one of 100 keys by chance, but hardly several.
const maxAsked = 8

// errAsked ends the walk over the first keys.
var errAsked = errors.New("the filters were asked for enough keys")

// denialOfFirstKeys asks the filters for the first keys of the table, in any order, as far as they are in
// its first data block. denied is for the first key that is denied. err says why keys cannot be read.
func (t *openTable) denialOfFirstKeys() (denied, err error) {
	h, err := t.index.handle(0)
	if err != nil {
		return nil, err
	}
	b := buffersPool.Get().(*buffers)
	defer b.put()
	contents, err := t.readBlock(DataBlock, h, b)
	if err != nil {
		return nil, err
	}
	asked, budget := 0, block.Budget{Memory: dataKeyBudget.forFile(t.footerOffset)}
	err = block.Walk(contents, block.Order{Unchecked: true}, &budget, func(key []byte, _ int, _ []byte) error {
		denied = t.denials(h, key)
		if asked++; denied != nil || asked == maxAsked {
			return errAsked
		}
		return nil
	})
	if err != nil && err != errAsked {
		return nil, t.damaged(DataBlock, h, err)
	}
	return denied, nil
}

// denials returns an error for each filter that denies key, which is in the data block at h.
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

// denial returns an error if a filter denies key, which the table has.
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
	return t.errorf("%s at %d denies the table's key %s and is not used: %s", listed.Name, listed.Offset, wire.Quote(key), hint)
}
